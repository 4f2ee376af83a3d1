"""The walls around generated code, built from inside the process that is about to run it.

As root the process becomes `nobody`. Where the kernel allows it gets namespaces of its own: no
network, no other process in sight, every file system read-only but one small temporary folder. Then
it gives up all capabilities. Only the standard library is used, and nothing of the rest of focore:
this runs in a bare interpreter.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Mapping

NOBODY = 65534
NEW_MOUNTS, NEW_IPC, NEW_USER = 0x00020000, 0x08000000, 0x10000000
NEW_PIDS, NEW_NET = 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES = 1, 2, 4
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
MOUNT_SETATTR = 442  # the same number on every architecture
SET_PARENT_DEATH, SET_DUMPABLE, SET_NO_NEW_PRIVILEGES = 1, 4, 38
CAPABILITY_VERSION = 0x20080522
KILL = 9

libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def enter(home: str, library: str) -> list[str]:
    """Build the walls; the names of those that stand: user, network, processes, files.

    `home` becomes the only folder that can be written. At `library`, an empty folder, root makes
    the standard library readable for the user it becomes.
    """
    walls = []
    user, group = os.getuid(), os.getgid()
    if user == 0:
        _show_library(library)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, 0)  # root is kept in reserve until the namespaces stand
        walls.append("user")
        user = group = NOBODY
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)  # or /proc/self would belong to root
    if _namespaces(user, group):
        walls += ["network", "processes"]
        if _read_only(home):
            walls.append("files")
    if os.getresuid()[2] == 0 and user == NOBODY:
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _give_up_capabilities()
    hide()
    return walls


def hide() -> None:
    """Let no other process of this user look into this one or trace it."""
    libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed as soon as the parent ends."""
    libc.prctl(SET_PARENT_DEATH, KILL, 0, 0, 0)


def limit(limits: Mapping[str, int]) -> None:
    """Set the limits of the process, for good."""
    values = {
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["file_size"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in values.items():
        high = resource.getrlimit(kind)[1]
        value = value if high == resource.RLIM_INFINITY else min(value, high)
        resource.setrlimit(kind, (value, value))


def _show_library(place: str) -> None:
    """Python may be installed where only root can read, such as root's home."""
    here = os.path.dirname(os.__file__)
    if libc.unshare(NEW_MOUNTS) or libc.mount(None, b"/", None, RECURSIVE | PRIVATE, None):
        return
    if libc.mount(here.encode(), place.encode(), None, BIND, None) == 0:
        sys.path[:] = [place + path.removeprefix(here) for path in sys.path if here in path]
        for package in [m for m in sys.modules.values() if getattr(m, "__path__", None)]:
            package.__path__ = [path.replace(here, place) for path in package.__path__]


def _namespaces(user: int, group: int) -> bool:
    if libc.unshare(NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_NET | NEW_IPC):
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    return True


def _read_only(folder: str) -> bool:
    """Make everything read-only but a file system in memory at `folder`."""
    if libc.mount(None, b"/", None, RECURSIVE | PRIVATE, None):
        return False
    attributes = MountAttributes(READ_ONLY | NO_SUID, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    if libc.syscall(MOUNT_SETATTR, -100, b"/", 0x8000, ctypes.byref(attributes), size):
        return False
    options = b"size=16m,nr_inodes=1k,mode=0700"
    flags = NO_SUID | NO_DEVICES
    if libc.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, options):
        return False
    os.chdir(folder)
    return True


def _give_up_capabilities() -> None:
    libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")

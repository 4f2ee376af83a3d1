"""Hashes of the public Countdown test's problems, which are never trained on.

Eight bytes each, of the numbers in order (see `countdown.key`): neither a test problem nor a
permutation of it, nor the same numbers with another target, can come up in training.
"""

from __future__ import annotations

from base64 import b64decode

_CODES = b64decode(
    "AObuWi8mRDEBAD0ba3kifgGjuPyPxxutBZC8Hb4/ssoFqbT06CW4+QeMKbq5zp9QB+0aPkOP1zEIJHxMBXlzhQjOjX"
    "fyHz1rCYbmglurq2kKjVUeO+auQgsHGNR/gjl+C7f6caj/I6ULvJBwHqCEfgwyIGcNObRLDgcMM9msJOIPGmNK7kXz"
    "MhC35XwId61+EV6cEL2zDDARyt1uvAeyIxR2LIi9D6JZFRTkclOzzgIVQKqVOOsWnhaujigBG7CWFwQBn55KeBIZqd"
    "prMq71xxrGKg+PMMPvG0g7GyUwhzgeUbrAHnRczB8TmPFpjoGSHxxseaEl81AfIUh7iEQqbSC3U47ngtOwITP5Zlg3"
    "bV8h8wXL3bs/2iK0/PzW+6sPIxRGC5yYNhQjyGWN5qkg9iP6R3kWK4h+JvqvF3fjn1UnaxmcH2IlySjAjovf7d2uKt"
    "icNMX62oorTe8JQe86jit2H2xxBc+4K+A+WOPWOGUsVEp48Yws1y26B0z64YhbL9qe5vAJ9lsw1vnPLUOC2jKCkQkt"
    "VvHkNGcPCyBwqkc2WYDCCYN+ZjbGwVcUBIO4OF1c3Xo/cMM4/y2h6cJHMDnYeGiognd8O7NEG3xF3aM8Air1wW6hZT"
    "yC0eQ1wi/uPUG1oGaZdks+iodHW8zVfz/NjRbTpGXMQBL5BC3BitlAr+EzuvaMgkSmzpoS+45LRMKDRlI8wndFQrq4"
    "PKLR/EgVUp0tFN3BSBnbgQe0NRJJG4V0/PDB/0l3THTI8xIcSgmK2AK2HO1L7JGy050y600vXhVh0RT1TV4wFLzi7K"
    "RNvusbR/GFUE5xwK2wYpnBTx9VmfeF2gVP06G5kJeGelD29gq3Of/bUwj9yZnYpDxTRa7o6mFUiVPiJN4O5gBoVGy5"
    "l6Ywj2xWMU2mUhAHFlZAcARTbIRBVsc2Ek5nkcxXjpBHSqPTZFf4v/k46A/xWcg4HWZEJH9bPUMxFxEPLVvvSlDoqe"
    "eHXSPsGsaA62JdOvkkN9+idF2TI55Av4kpX+TaHZLVrnpgGyQYu3uV4mCYkBpf4c0UYXeVg94HKIBh5EKlic/SGWIE"
    "F5YvvsghZEXWnY2nP8FkZ1INJ6qGeGTZd9ILvoAHZiLDvXKAe2xm5IpLjJTx4mdckc8Ub1B2aZ/hKj1UU1Jp3Nv/5e"
    "mG4GpDdb+lsniparOwQ9ypBqxuFVzBFnKu124xl7mFydW6bsWkhoN4CONu5mynUg8u4m/RlOvCT4GlcAeLj4SZM2pw"
    "sB91Zvop7XDRRBnwLfiMckHCNAFFww5yup1czHOXCXOF+/y/oz/1c7sFMBPS6utzu50RKXQ8gHTMRXh1nSkZdO3moc"
    "QeGad259DiS+eWKHciIZ1Xpm8rd994XlJoov54R2Poa3OI5XmSXpkaZO9ReZaLDoJ1cX15ueypTb6B1HrrhsZl5HIM"
    "fLJ7VZKepTR/JLZ6xD4bzn96+UbqO1SJgPDMpb31DG2CHTz6n8ZWmoLuoIdnimEfg2jS4pwERmGEBtyJvHooRoS1Bs"
    "jL5CSPhczWw7nl/bOF2gM+93REz4dkDPzvYU9diEEDKoaMhduJ12tC9xEpV4tTlskHIiQGjGKLlD7qqO+NC0J0fRog"
    "o41Fgns0QwZijnFwdI5W+3yOe55xBYaoQ46P3RSuW/b4kYW8spchaI6RlfSy3URLrpGz+bWgrjxzki0U5nKmpG2SMi"
    "Lvrq2Z3ZNu0G7SlxUulEqNnwmdHsKWCuWkdHxkJpbGj9BZui60ltRKlrGNYAeW3ct3HKWaSZb2y7/lbJDZmTpfAUd0"
    "jVabDwFcO0WgGpzDKBzha3Z0oWxco+oI7UChuzBxvWPEw6JgWIJ0vNl/o6q5tzSCk+Cj6Iaa7RV8C6QNSSYzI986pg"
    "6M/hrKyAemxPwTaDpysahdBIhoXZi5qdlORWKy5mKqHL1WfL3Op62dGcnHwVQOrhNFgJ8FmFKv61gWxrSnxbCo7k53"
    "UiK+svyiYvffrdG0AuctAZ363bR8DUhMnufQtsEYc4v6ZSa3CEarr8ySabnPmpc+TTY4upZLs69viOS6sY1PgFJJVL"
    "uMLVQpSL6zvdjpLLIUK1++WlCVwwzA28E45X/c5Q0swUvUx5dmm/TBzTDIbzRy0MIpk1wsH8eexO7x4SKP6arFCftK"
    "oALfrsY9jBRRSIX6xyfM+yJ8qwrH5PHtrxu6AMhhyL6kqHLeyVId+GquRQ7KMZDrCAyObctk1DiNF3Jhy7M5p7eFZc"
    "LNFMt9jfaFRs63wfWIMwfRz1zWc+9YyKLQ6nO9ER16ndIVLnSABDYj0ngwRV0WBSTS0f3DDr/smdLeF/XWH74C1DrS"
    "EXu7yk3X41HT4EfX9dp0Fr4hOVb52rhLg5WBHEbbGwk61mqs8tz9dnYdOfcc3WL7dHTu4UTfdZY/5EPlC+KH4Js99g"
    "xi5A56tXzsNZrkXj44oPqMtOSttybWEA5U5LFA7Z49J17lUd1DKhA3q+Xm00i5eWnW6Ht61bOzTRzpGnbn5NNcD+s5"
    "4rWBaKAy7cHUioJfSLfuPpbfZS7+W/I4tN0RmQ928j0qopmsfc3yYPUh3DfSN/QQC0Tikz1b9TTPi7WYFub1XyyGOr"
    "Xng/d8P6ikpgsr+IkkEx9PJ8X4xSVn9y4PCPn3cJzT+SEl+oeXkvkvhsz7S3cV8p7ul/x7xfrFxNIR/QPnPpmdtJP9"
    "JiRx7CFgFf1qGbtkOnvc/rsOPDHTWBE="
)
COUNTDOWN = frozenset(_CODES[i : i + 8] for i in range(0, len(_CODES), 8))

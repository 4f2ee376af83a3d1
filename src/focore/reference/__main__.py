import sys

from . import write_pages

write_pages(sys.argv[1])

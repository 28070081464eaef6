"""python -m dpwords"""

from dpwords.cli import main

main()

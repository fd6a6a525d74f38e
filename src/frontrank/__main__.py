"""python -m frontrank"""

from frontrank.cli import main

if __name__ == "__main__":
    main()

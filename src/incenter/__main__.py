"""`python -m incenter` is the `incenter` command."""

from incenter.cli import main

if __name__ == "__main__":
    main()

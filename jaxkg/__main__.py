"""`python -m jaxkg`."""

from jaxkg.cli import main

if __name__ == "__main__":
    main()

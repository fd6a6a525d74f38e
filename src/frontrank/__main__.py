"""The command ``frontrank``, and python -m frontrank."""

# Before anything is imported that takes time: who presses Ctrl-C now wants no traceback, and there is nothing to clear up.
import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from frontrank.cli import main

if __name__ == "__main__":
    main()

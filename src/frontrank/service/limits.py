"""Limits of one URL. Larger ones are not taken in: millions of them could not be kept."""

MAX_URL_LENGTH = 16_384  # characters
MAX_KEY_LENGTH = 255  # characters, as in URLFrontier
MAX_METADATA = 65_536  # bytes of a URL's metadata
MAX_PER_QUEUE = 10_000  # URLs of one queue that one call gets

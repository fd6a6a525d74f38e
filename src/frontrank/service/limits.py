"""How much one URL may bring. What is larger is not taken in: it could not be kept for millions of them."""

LONGEST_URL = 16_384  # characters
LONGEST_KEY = 255  # characters, as in URLFrontier
MOST_METADATA = 65_536  # bytes of a URL's metadata
MOST_PER_QUEUE = 10_000  # URLs of one queue that one call gets

"""A real crawler around a Crawl: polite, durable, resumable; what it may fetch, how it fetches, and what it keeps."""

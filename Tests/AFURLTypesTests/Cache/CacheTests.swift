/// The cache as Foundation names it.
enum CacheTests {}

/// Cookies as Foundation names them.
enum CookieRules: CookieSamples {}

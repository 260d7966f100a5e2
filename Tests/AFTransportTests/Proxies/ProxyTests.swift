/// Proxies, without a session.
enum ProxyTests {}

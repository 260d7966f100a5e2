// The values are those of Apple's loader, so that a method that a program stored by name keeps its meaning.

/// The standard method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// User name and password in the clear, base64 encoded.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// A proof of the password, which itself is not sent.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A bearer token (RFC 6750). Ours: Apple's loader has no such method.
public let NSURLAuthenticationMethodHTTPBearer = "NSURLAuthenticationMethodHTTPBearer"
/// A form of a web page.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// Kerberos or NTLM, whichever both sides speak.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// NTLM.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The server asks for a certificate of the client.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The server shows its certificates, and the client decides whether to trust it.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// The protocol of a space: http.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol of a space: https.
public let NSURLProtectionSpaceHTTPS = "https"
/// The protocol of a space: ftp.
public let NSURLProtectionSpaceFTP = "ftp"
/// The type of a proxy: http.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of a proxy: https.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a proxy: ftp.
public let NSURLProtectionSpaceFTPProxy = "ftp"
/// The type of a proxy: SOCKS.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

public import Foundation

// The names of CoreFoundation that occur where the Security framework is used. Here they are
// Foundation's own types, so that `data as CFData` and plain `data` both compile.

/// `Data`.
public typealias CFData = Data
/// `String`.
public typealias CFString = String
/// `Date`.
public typealias CFDate = Date
/// An array of anything.
public typealias CFArray = [Any]
/// A dictionary of anything.
public typealias CFDictionary = [String: Any]
/// Anything.
public typealias CFTypeRef = Any
/// `NSError`.
public typealias CFError = NSError
/// `Int`.
public typealias CFIndex = Int

/// `UInt`.
public typealias CFOptionFlags = UInt

/// Never made: pass nil.
public enum CFAllocator: Sendable {}

/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = nil

// MARK: - Proxies

// The keys of `connectionProxyDictionary`, by the names that Apple's CFNetwork has for them.

/// A number: whether ``kCFNetworkProxiesHTTPProxy`` is used for `http` URLs.
public let kCFNetworkProxiesHTTPEnable = "HTTPEnable"
/// A text: the host of the proxy for `http` URLs.
public let kCFNetworkProxiesHTTPProxy = "HTTPProxy"
/// A number: its port.
public let kCFNetworkProxiesHTTPPort = "HTTPPort"
/// A number: whether ``kCFNetworkProxiesHTTPSProxy`` is used for `https` URLs.
public let kCFNetworkProxiesHTTPSEnable = "HTTPSEnable"
/// A text: the host of the proxy that `https` is tunnelled through. It speaks HTTP.
public let kCFNetworkProxiesHTTPSProxy = "HTTPSProxy"
/// A number: its port.
public let kCFNetworkProxiesHTTPSPort = "HTTPSPort"
/// A number: whether ``kCFNetworkProxiesSOCKSProxy`` is used for what has no proxy of its own.
public let kCFNetworkProxiesSOCKSEnable = "SOCKSEnable"
/// A text: the host of a SOCKS 5 proxy, which looks names up itself.
public let kCFNetworkProxiesSOCKSProxy = "SOCKSProxy"
/// A number: its port.
public let kCFNetworkProxiesSOCKSPort = "SOCKSPort"
/// A list of texts: the hosts that are reached without a proxy, as ``/AFTransport/ProxyExceptions`` says.
public let kCFNetworkProxiesExceptionsList = "ExceptionsList"
/// A number: whether hosts without a dot in their name are reached without a proxy.
public let kCFNetworkProxiesExcludeSimpleHostnames = "ExcludeSimpleHostnames"
/// A text: the user name for every proxy in the dictionary. `HTTPUser`, `HTTPSUser` and `SOCKSUser` are for one of them.
public let kCFProxyUsernameKey = "kCFProxyUsernameKey"
/// A text: the password that belongs to it. `HTTPPassword`, `HTTPSPassword` and `SOCKSPassword` are for one proxy.
public let kCFProxyPasswordKey = "kCFProxyPasswordKey"

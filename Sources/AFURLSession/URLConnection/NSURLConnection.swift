// Swift never dropped the prefix of these names: code for Apple's platforms spells them as they are here.

/// ``URLConnection`` under the name it has on Apple's platforms.
public typealias NSURLConnection = URLConnection

/// ``URLConnectionDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDelegate = URLConnectionDelegate

/// ``URLConnectionDataDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDataDelegate = URLConnectionDataDelegate

/// ``URLConnectionDownloadDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDownloadDelegate = URLConnectionDownloadDelegate

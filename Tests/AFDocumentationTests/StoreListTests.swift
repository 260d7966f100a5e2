import Foundation
import Testing

/// What outlives a request is kept under the judgement by which its server was accepted.
@Suite("What is kept of servers")
struct StoreListTests {
    /// Types that keep what a server said, or what was found out about it, and the type under which they keep it.
    private static let stores = [
        "ConnectionPool": "ConnectionKey", "HostPool": "ConnectionKey", "TLSSessionCache": "ConnectionKey",
        "TrustedServers": "TrustJudge", "CacheStore": "CacheEntry", "CachePartition": "TrustScope",
        "URLCache": "TrustScope", "ProtocolStorage": "TrustScope", "HSTSStore": "TrustScope",
        "ResumeRecord": "scope", "PartsRecord": "scope", "ProvenCredentials": "TrustScope",
        "KnownCredentials": "TrustScope",
        "PartialImages": "ImageDownloadKey",
        "AutoPurgingImageCache": "identifier", "MemoryImageCache": "ImageCacheKey",
    ]

    /// Types with such a name that keep nothing that a judgement vouches for, and why.
    private static let others = [
        "HTTPCookieStorage": "cookies go by hosts, as RFC 6265 has it; a server that lax rules accept may set them",
        "CookieJar": "the same", "CookieFileStore": "the same", "URLCredentialStorage": "what the program has given",
        "DownloadStore": "the file of one download; its resume data have the scope",
        "PartsStore": "the file of one download in parts; its record has the scope",
        "CacheRecord": "the bytes of an entry, whose head has its partition",
        "HARCache": "a report", "ExchangeRecord": "a report", "TaskRecord": "one task",
        "AgedImages": "the order of a cache's images, by its keys", "PixelStorage": "the pixels of an image",
    ]

    private static let kinds = "Store|Cache|Storage|Jar|Pool|Servers|Credentials|Images|Record|Partition"

    @Test func `T-TLS-84 each type that keeps what a server said says under which judgement`() throws {
        var found: Set<String> = []
        let name = try Regex("(?:class|struct|actor) ([A-Z]\\w*(?:\(Self.kinds)))\\b", as: (Substring, Substring).self)
        for module in ["AFTransport", "AFState", "AFURLTypes", "AFURLSession", "AFNetworking", "AFImages"] {
            for file in try Repository.files(in: "Sources/\(module)", endingWith: ".swift") {
                let text = try Repository.text(file)
                for match in text.matches(of: name) {
                    let type = String(match.1)
                    found.insert(type)
                    if let scope = Self.stores[type] {
                        #expect(text.contains(scope), "\(type) keeps what servers say, and takes no \(scope)")
                    } else {
                        #expect(
                            Self.others[type] != nil,
                            "\(type) is new: list it with what it is kept under, or why not"
                        )
                    }
                }
                let hasDefault = text.contains(#/(?:TrustScope|TrustJudge\?) = [.n]/#)
                #expect(!hasDefault, "\(file) has a default for a judgement")
                guard text.contains(#/TrustScope\.(?:rules|word|protocolClass)\(|return \.(?:rules|word)\(/#) else {
                    continue
                }
                #expect(file.hasSuffix("/SessionScopes.swift"), "\(file) makes a scope")
            }
        }
        #expect(Set(Self.stores.keys).isSubset(of: found) && Set(Self.others.keys).isSubset(of: found))
    }
}

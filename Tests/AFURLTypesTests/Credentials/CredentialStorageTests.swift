import AFBase
import AFLoop
import Dispatch
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Credential storage")
struct CredentialStorageTests {
    private let storage = URLCredentialStorage()

    private static func space(
        host: String = "a.test",
        realm: String? = "r",
        method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: 443, protocol: "https", realm: realm, authenticationMethod: method)
    }

    @Test("credentials are kept by space and user, and replaced by those of the same user")
    func keeping() {
        #expect(storage.credentials(for: Self.space()) == nil && storage.defaultCredential(for: Self.space()) == nil)
        storage.set(.user("alice", "1"), for: Self.space())
        storage.set(.user("bob", "2"), for: Self.space())
        storage.set(.user("alice", "3"), for: Self.space())
        storage.set(.user("carol", "4"), for: Self.space(realm: "other"))
        #expect(storage.credentials(for: Self.space()) == ["alice": .user("alice", "3"), "bob": .user("bob", "2")])
        // The first of a space is its default, with the password it has now.
        #expect(storage.defaultCredential(for: Self.space()) == .user("alice", "3"))
        #expect(storage.choice(for: Self.space(), user: nil) == .user("alice", "3"))
        #expect(storage.allCredentials.count == 2)
        #expect(storage.allCredentials[Self.space(realm: "other")]?["carol"]?.password == "4")
    }

    @Test("the default is one of the credentials, and goes with it")
    func defaults() {
        storage.setDefaultCredential(.user("alice", "1"), for: Self.space())
        #expect(storage.credentials(for: Self.space())?.count == 1)
        storage.set(.user("alice", "2"), for: Self.space())
        #expect(storage.defaultCredential(for: Self.space())?.password == "2")
        storage.set(.user("bob", "3"), for: Self.space())
        #expect(storage.defaultCredential(for: Self.space())?.user == "alice")
        storage.remove(.user("alice", "of no interest"), for: Self.space())
        #expect(storage.defaultCredential(for: Self.space()) == nil)
        #expect(storage.credentials(for: Self.space()) == ["bob": .user("bob", "3")])
        storage.set(.user("carol", "4"), for: Self.space())
        #expect(storage.defaultCredential(for: Self.space())?.user == "carol")
        storage.remove(.user("carol"), for: Self.space())
        storage.remove(.user("bob"), for: Self.space())
        #expect(storage.credentials(for: Self.space()) == nil && storage.allCredentials.isEmpty && storage.isEmpty)
        storage.remove(.user("bob"), for: Self.space())
        #expect(storage.isEmpty)
    }

    @Test("persistence none is not kept; synchronizable is removed only on request")
    func persistence() {
        storage.set(.user("a", "1", .none), for: Self.space())
        #expect(storage.isEmpty)
        for persistence in [URLCredential.Persistence.forSession, .permanent] {
            storage.set(.user("a", "1", persistence), for: Self.space())
            storage.remove(.user("a"), for: Self.space())
            #expect(storage.isEmpty)
        }
        storage.set(.user("a", "1", .synchronizable), for: Self.space())
        storage.remove(.user("a"), for: Self.space())
        storage.remove(.user("a"), for: Self.space(), options: nil)
        storage.remove(
            .user("a"),
            for: Self.space(),
            options: [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: false)]
        )
        #expect(!storage.isEmpty)
        storage.remove(
            .user("a"),
            for: Self.space(),
            options: [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: true)]
        )
        #expect(storage.isEmpty)
    }

    @Test("names that only look the same are others, T-AUT-18")
    func bytes() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        storage.set(.user(composed, "1"), for: Self.space())
        storage.set(.user(composed, "2"), for: Self.space(realm: composed))
        #expect(storage.choice(for: Self.space(), user: Array(decomposed.utf8)) == nil)
        #expect(storage.credentials(for: Self.space(realm: decomposed)) == nil)
        #expect(storage.credentials(for: Self.space(realm: "R")) == nil)
        #expect(Self.space(realm: composed) != Self.space(realm: decomposed))
        #expect(URLCredential.user(composed) != URLCredential.user(decomposed))
        #expect(URLCredential.user("a", composed) != URLCredential.user("a", decomposed))
        #expect(URLCredential.user("a", "Word") != URLCredential.user("a", "word"))
        // A host is the same in any case.
        #expect(storage.credentials(for: Self.space(host: "A.TEST")) != nil)
    }

    @Test("spaces for tokens and for passwords are told apart")
    func kinds() {
        storage.set(URLCredential(bearerToken: "t"), for: Self.space(method: NSURLAuthenticationMethodHTTPBearer))
        #expect(storage.credentials(for: Self.space()) == nil)
        let tokens = storage.credentials(for: Self.space(method: NSURLAuthenticationMethodHTTPBearer))
        #expect(tokens?[""]?.bearerToken == "t" && tokens?[""]?.user == nil && tokens?[""]?.hasPassword == false)
    }

    @Test("every change is announced before the call that makes it returns, and nothing else is")
    func notifications() {
        let threads = Lock<[Bool]>([])
        let here = pthread_self()
        func announced(_ change: () -> Void) -> [Bool] {
            threads.withLock { $0 = [] }
            change()
            return threads.withLock { $0 }
        }
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged,
            object: storage,
            queue: nil
        ) { _ in
            // The observer may ask the storage.
            let isThere = storage.defaultCredential(for: Self.space()) != nil
            threads.withLock { $0.append(pthread_equal(pthread_self(), here) != 0 && isThere) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(announced { storage.set(.user("a", "1"), for: Self.space()) } == [true])
        #expect(announced { storage.set(.user("a", "1"), for: Self.space()) } == [])
        #expect(announced { storage.setDefaultCredential(.user("a", "1"), for: Self.space()) } == [])
        #expect(announced { storage.set(.user("a", "2"), for: Self.space()) } == [true])
        #expect(announced { storage.set(.user("b", "3"), for: Self.space()) } == [true])
        #expect(announced { storage.setDefaultCredential(.user("b", "3"), for: Self.space()) } == [true])
        #expect(announced { storage.remove(.user("a"), for: Self.space()) } == [true])
        // Nothing was there any more, nothing is kept.
        #expect(announced { storage.remove(.user("a"), for: Self.space()) } == [])
        #expect(announced { storage.set(.user("a", "1", .none), for: Self.space()) } == [])
    }

    @Test("a change by a session is announced on another thread than its own")
    func notificationsOfSessions() {
        let announced = DispatchSemaphore(value: 0)
        let threads = Lock<[Bool]>([])
        let here = pthread_self()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged,
            object: storage,
            queue: nil
        ) { _ in
            threads.withLock { $0.append(pthread_equal(pthread_self(), here) != 0) }
            announced.signal()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        storage.learn(.user("a"), for: Self.space())
        storage.learn(.user("a"), for: Self.space())
        storage.removeAll()
        storage.removeAll()
        for _ in 0..<2 { #expect(announced.wait(timeout: .now() + 60) == .success) }
        #expect(threads.withLock { $0 } == [false, false] && storage.isEmpty)
    }

    @Test("many threads change and read it at once")
    func concurrency() {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<200 {
                let space = Self.space(realm: "r\(round % 5)")
                storage.set(.user("user \(thread)", "\(round)"), for: space)
                if round % 3 == 0 { storage.setDefaultCredential(.user("user \(thread)", "\(round)"), for: space) }
                _ = storage.allCredentials
                _ = storage.choice(for: space, user: nil)
                if round % 7 == 0 { storage.remove(.user("user \(thread)"), for: space) }
            }
            for realm in 0..<5 { storage.remove(.user("user \(thread)"), for: Self.space(realm: "r\(realm)")) }
        }
        #expect(storage.isEmpty && storage.allCredentials.isEmpty)
    }
}

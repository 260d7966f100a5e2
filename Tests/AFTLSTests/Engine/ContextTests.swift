import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

extension SecuredTests {
    /// What a client context is like, as OpenSSL itself says.
    struct Contexts {
        private static func context(_ change: (inout TLSParameters) -> Void = { _ in }) throws -> TLSContext {
            var parameters = TLSParameters()
            change(&parameters)
            return try TLSContext(parameters)
        }

        private static func control(_ context: TLSContext, _ command: Int32) -> UInt32 {
            UInt32(truncatingIfNeeded: SSL_CTX_ctrl(context.handle, command, 0, nil))
        }

        private static func options(_ context: TLSContext) -> UInt64 { SSL_CTX_get_options(context.handle) }

        /// `SSL_OP_BIT(n)`, which Swift does not import.
        private enum Option {
            static let ignoresUnexpectedEnd = UInt64(1) << 7
            static let noTickets = UInt64(1) << 14
            static let noCompression = UInt64(1) << 17
            static let legacyRenegotiation = UInt64(1) << 18
            static let noRenegotiation = UInt64(1) << 30
            static let legacyServers = UInt64(1) << 2
        }

        @Test func `T-TLS-59 every property has the value it should have`() throws {
            let context = try Self.context()
            let options = Self.options(context)

            #expect(SSL_CTX_get_verify_mode(context.handle) == SSL_VERIFY_PEER)
            #expect(options & Option.noRenegotiation != 0 && options & Option.noCompression != 0)
            let unsafe = Option.legacyRenegotiation | Option.legacyServers | Option.ignoresUnexpectedEnd
            #expect(options & unsafe == 0)
            #expect(options & Option.noTickets == 0)
            #expect(SSL_CTX_get_security_level(context.handle) == 2)
            #expect(Self.control(context, SSL_CTRL_GET_MIN_PROTO_VERSION) == 0x0303)
            #expect(Self.control(context, SSL_CTRL_GET_MAX_PROTO_VERSION) == 0x0304)
            let mode = Self.control(context, SSL_CTRL_MODE)
            #expect(mode & SSL_MODE_ENABLE_PARTIAL_WRITE != 0 && mode & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER != 0)
            #expect(mode & SSL_MODE_RELEASE_BUFFERS != 0 && mode & SSL_MODE_AUTO_RETRY == 0)
            #expect(mode & SSL_MODE_SEND_FALLBACK_SCSV == 0)
            // For clients, and none of it inside OpenSSL.
            #expect(Self.control(context, SSL_CTRL_GET_SESS_CACHE_MODE) == 0x0001 | 0x0300)
            #expect(SSL_CTX_get_max_early_data(context.handle) == 0)
            #expect(SSL_CTX_get_keylog_callback(context.handle) == nil)
            #expect(SSL_CTX_get_quiet_shutdown(context.handle) == 0)
        }

        @Test func `T-TLS-59 OpenSSL has the settings that were asked for`() throws {
            for (lowest, highest) in [(TLSVersion.v1_2, TLSVersion.v1_2), (.v1_2, .v1_3), (.v1_3, .v1_3)] {
                let context = try Self.context { $0.versions = lowest...highest }
                #expect(Self.control(context, SSL_CTRL_GET_MIN_PROTO_VERSION) == UInt32(lowest.rawValue))
                #expect(Self.control(context, SSL_CTRL_GET_MAX_PROTO_VERSION) == UInt32(highest.rawValue))
            }
            for level in 0...5 {
                let context = try Self.context { $0.securityLevel = level }
                #expect(SSL_CTX_get_security_level(context.handle) == Int32(level))
            }
            let once = try Self.context { $0.resumes = false }
            #expect(Self.options(once) & Option.noTickets != 0)
            #expect(Self.control(once, SSL_CTRL_GET_SESS_CACHE_MODE) == 0)
        }

        @Test func `T-TLS-59 a setting that OpenSSL does not take makes no context`() {
            for ciphers in ["", "NO-SUCH-SUITE", "\u{0}", "ECDHE\u{7F}"] {
                #expect(throws: TLSFailure.self) { try Self.context { $0.ciphers = ciphers } }
            }
        }

        @Test func `T-TLS-59 one function makes contexts for clients, and one for test servers`() throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
            let constructors = ["SSL_CTX_new", "SSL_CTX_new_ex", "TLS_client_method", "TLS_method", "SSL_dup"]
            var found: [String: Int] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.path)
            where [".swift", ".c", ".h"].contains(where: { path.hasSuffix($0) }) {
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                for name in constructors {
                    let count = text.components(separatedBy: "\(name)(").count - 1
                    if count > 0 { found["\(path) \(name)"] = count }
                }
            }
            #expect(
                found == [
                    "CAFOpenSSL/CAFOpenSSL.c SSL_CTX_new": 1, "CAFOpenSSL/CAFOpenSSL.c TLS_client_method": 1,
                    "CAFTestServer/CAFTestAuthority.c SSL_CTX_new": 1,
                ]
            )
        }
    }
}

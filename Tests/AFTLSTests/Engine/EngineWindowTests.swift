import CAFOpenSSL
import Testing

@testable import AFTLS

extension SecuredTests {
    /// What OpenSSL reads from and writes to, by itself, and the texts of its errors.
    struct EngineWindow {
        /// A connection with a window, which is moved by hand.
        private final class Connection {
            let context: TLSContext
            let ssl: OpaquePointer
            let window = UnsafeMutablePointer<caf_tls_window>.allocate(capacity: 1)
            let room = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
            var bio: OpaquePointer? { SSL_get_wbio(ssl) }

            init() throws {
                context = try TLSContext(TLSParameters())
                ssl = try #require(SSL_new(context.handle))
                window.initialize(to: caf_tls_window())
                room.initialize(repeating: 0x7E, count: 8)
                (window.pointee.output, window.pointee.output_capacity) = (room, 6)
                #expect(caf_attach_window(ssl, window) == 1)
            }

            deinit {
                SSL_free(ssl)
                window.deallocate()
                room.deallocate()
            }

            var retries: Int32 {
                BIO_test_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY)
            }
        }

        @Test func `bytes are read as far as the window goes, and then it is asked again or ends`() throws {
            let (connection, input) = (try Connection(), Array("abcde".utf8))
            var (buffer, count) = ([UInt8](repeating: 0, count: 8), 0)
            input.withUnsafeBufferPointer { input in
                connection.window.pointee.input = input.baseAddress
                connection.window.pointee.input_count = 5
                #expect(BIO_ctrl(connection.bio, BIO_CTRL_PENDING, 0, nil) == 5)
                #expect(BIO_ctrl(connection.bio, BIO_CTRL_EOF, 0, nil) == 0)
                #expect(BIO_read_ex(connection.bio, &buffer, 2, &count) == 1 && count == 2)
                #expect(BIO_read_ex(connection.bio, &buffer, 8, &count) == 1 && count == 3)
                #expect(Array(buffer.prefix(4)) == Array("cde".utf8) + [0] && connection.retries == 0)
                #expect(connection.window.pointee.input == input.baseAddress.map { $0 + 5 })
            }
            #expect(connection.window.pointee.input_count == 0)
            #expect(BIO_read(connection.bio, &buffer, 8) == 0)
            #expect(connection.retries == BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            #expect(BIO_ctrl(connection.bio, BIO_CTRL_EOF, 0, nil) == 0)
            connection.window.pointee.input_ended = 1
            #expect(BIO_read(connection.bio, &buffer, 8) <= 0 && connection.retries == 0)
            #expect(BIO_ctrl(connection.bio, BIO_CTRL_EOF, 0, nil) == 1)
            #expect(BIO_ctrl(connection.bio, BIO_CTRL_PENDING, 0, nil) == 0)
            connection.window.pointee.input_count = 1
            #expect(BIO_ctrl(connection.bio, BIO_CTRL_EOF, 0, nil) == 0)
        }

        @Test func `bytes are written as far as there is room, and not one beyond`() throws {
            let connection = try Connection()
            var count = 0
            #expect(BIO_write_ex(connection.bio, "abcd", 4, &count) == 1 && count == 4)
            #expect(BIO_write_ex(connection.bio, "efgh", 4, &count) == 1 && count == 2)
            #expect(connection.window.pointee.output_count == 6 && connection.retries == 0)
            #expect(BIO_write(connection.bio, "i", 1) == 0)
            #expect(connection.retries == BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            #expect(Array(UnsafeBufferPointer(start: connection.room, count: 8)) == Array("abcdef~~".utf8))
            connection.window.pointee.output_count = 0
            #expect(BIO_write_ex(connection.bio, "z", 1, &count) == 1 && connection.retries == 0)
            #expect(BIO_ctrl(connection.bio, BIO_CTRL_FLUSH, 0, nil) == 1)
            for command in [BIO_CTRL_INFO, BIO_CTRL_PUSH, BIO_CTRL_WPENDING] {
                #expect(BIO_ctrl(connection.bio, command, 0, nil) == 0)
            }
        }

        @Test func `a connection that has not begun has nothing of its server`() throws {
            let connection = try Connection()
            #expect(caf_has_peer_certificate(connection.ssl) == 0 && caf_peer_authority_count(connection.ssl) == 0)
            #expect(caf_cipher_id(connection.ssl) == 0 && caf_peer_authority(connection.ssl, 0, nil, 0) == 0)
            #expect(caf_x509_count(nil) == 0 && caf_free_buffers(connection.ssl) == 1)
            #expect(caf_set_server_name(connection.ssl, String(repeating: "a", count: 256)) == 0)
        }

        @Test func `errors are taken first come first, and none is left`() {
            let raise = { (function: String, reason: Int32) in
                ERR_new()
                ERR_set_debug("file", 1, function)
                withVaList([]) { ERR_vset_error(ERR_LIB_SSL, reason, nil, $0) }
            }
            // Another test may have left some on this thread.
            ERR_clear_error()
            for (function, concerns) in [("tls_parse_stoc_alpn", 1), ("tls_parse_stoc_sni", 0)] as [(String, Int32)] {
                raise(function, SSL_R_BAD_EXTENSION)
                raise("other", SSL_R_BAD_LENGTH)
                #expect(caf_error_concerns_alpn() == concerns)
                #expect(caf_error_reason(caf_take_error()) == SSL_R_BAD_EXTENSION && ERR_peek_error() == 0)
            }
            raise("other", 0)
            caf_clear_errors()
            #expect(caf_take_error() == 0 && caf_error_concerns_alpn() == 0)
        }

        @Test func `texts are cut to the room there is, and what has no text leaves it as it was`() {
            let error = UInt(ERR_LIB_SSL) << 23 | UInt(SSL_R_BAD_EXTENSION)
            var text = [CChar](repeating: 0x7E, count: 16)
            #expect(
                caf_error_text(error, &text, 16) == 13 && text.starts(with: "bad extension~~~".utf8.map { CChar($0) })
            )
            #expect(caf_error_text(error, &text, 3) == 3 && caf_error_text(error, &text, 0) == 0)
            text = [CChar](repeating: 0x7E, count: 16)
            #expect(caf_error_text(UInt(ERR_LIB_SSL) << 23 | 4_000, &text, 16) == 0 && text[0] == 0x7E)
            #expect(caf_alert_name(40, &text, 4) == 4 && text.starts(with: "hand~".utf8.map { CChar($0) }))
        }
    }
}

/// The engine of TLS, without a socket.
enum SecuredTests {}

/// What connections over TLS are made of, without a session.
enum SecuredTests {}

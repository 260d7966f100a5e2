import AFNetworking

/// How to mend each finding of lint.
enum LintAdvice {
    static let texts: [SecurityPolicy.Finding.Kind: String] = [
        .noBackupPin:
            "make a second key, keep it elsewhere, and add its pin to \"backupPins\" (afnet pins FILE shows it)",
        .sharedBackupPin: "put the pin of a key that is not in use into \"backupPins\"",
        .emptyPinSet: "add a pin to \"pins\" (afnet pins HOST shows them), or write \"noPins\": true",
        .expiredPinSet: "set a later \"date\", or leave out \"expiry\"",
        .expiringPinSet: "set a later \"date\", and ship it before then",
        .expiringCertificate: "add the certificate that takes its place, or pin its key",
        .unreadablePin: "each of \"pinnedCertificates\" is the base64 of a certificate in DER",
        .flawedAuthority: "nothing, if only programs with this library trust it: other clients may refuse it",
        .unusedPins: "set \"SSLPinningMode\" to 1 (keys) or 2 (certificates), or leave out \"pinnedCertificates\"",
        .duplicateRule: "make one rule of the two",
        .overlappingRules: "nothing, if that is meant",
        .broadPattern: "name a domain of yours: **.example.com",
        .keyAlone: "leave out \"allowInvalidCertificates\"",
        .noAuthentication: "leave out \"allowInvalidCertificates\"",
        .noNameCheck: "leave out \"validatesDomainName\"",
        .noRules: "add a rule to \"hostRules\", or leave out \"refusesHostsWithoutRule\"",
    ]
}

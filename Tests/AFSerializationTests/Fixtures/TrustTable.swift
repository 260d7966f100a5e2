/// What a policy says of a server, written down by hand: 252 verdicts.
///
/// The host is `good.test`. Pins that match are the server's own root, or its own certificate
/// where it signed itself; the server sends the root along if the session does not have it.
enum TrustTable {
    static let columns = ["valid", "expired", "wrongName", "unknownRoot", "selfSigned", "badSignature", "wrongPurpose"]

    static let text = """
        mode        allowInvalid validatesName pins    | valid expired wrongName unknownRoot selfSigned badSignature wrongPurpose
        none        no           yes           empty   | yes   no      no        no          no         no           no
        none        no           yes           match   | yes   no      no        no          no         no           no
        none        no           yes           noMatch | yes   no      no        no          no         no           no
        none        no           no            empty   | yes   no      yes       no          no         no           yes
        none        no           no            match   | yes   no      yes       no          no         no           yes
        none        no           no            noMatch | yes   no      yes       no          no         no           yes
        none        yes          yes           empty   | no    no      no        no          no         no           no
        none        yes          yes           match   | no    no      no        no          no         no           no
        none        yes          yes           noMatch | no    no      no        no          no         no           no
        none        yes          no            empty   | yes   yes     yes       yes         yes        yes          yes
        none        yes          no            match   | yes   yes     yes       yes         yes        yes          yes
        none        yes          no            noMatch | yes   yes     yes       yes         yes        yes          yes
        publicKey   no           yes           empty   | no    no      no        no          no         no           no
        publicKey   no           yes           match   | yes   no      no        no          no         no           no
        publicKey   no           yes           noMatch | no    no      no        no          no         no           no
        publicKey   no           no            empty   | no    no      no        no          no         no           no
        publicKey   no           no            match   | yes   no      yes       no          no         no           yes
        publicKey   no           no            noMatch | no    no      no        no          no         no           no
        publicKey   yes          yes           empty   | no    no      no        no          no         no           no
        publicKey   yes          yes           match   | yes   yes     yes       yes         yes        no           yes
        publicKey   yes          yes           noMatch | no    no      no        no          no         no           no
        publicKey   yes          no            empty   | no    no      no        no          no         no           no
        publicKey   yes          no            match   | yes   yes     yes       yes         yes        no           yes
        publicKey   yes          no            noMatch | no    no      no        no          no         no           no
        certificate no           yes           empty   | no    no      no        no          no         no           no
        certificate no           yes           match   | yes   no      no        no          no         no           no
        certificate no           yes           noMatch | no    no      no        no          no         no           no
        certificate no           no            empty   | no    no      no        no          no         no           no
        certificate no           no            match   | yes   no      yes       no          no         no           yes
        certificate no           no            noMatch | no    no      no        no          no         no           no
        certificate yes          yes           empty   | no    no      no        no          no         no           no
        certificate yes          yes           match   | yes   no      no        yes         yes        no           no
        certificate yes          yes           noMatch | no    no      no        no          no         no           no
        certificate yes          no            empty   | no    no      no        no          no         no           no
        certificate yes          no            match   | yes   no      yes       yes         yes        no           yes
        certificate yes          no            noMatch | no    no      no        no          no         no           no
        """

    struct Row: Sendable {
        let mode: String
        let allowsInvalid: Bool
        let validatesName: Bool
        let pins: String
        let verdicts: [String: Bool]
    }

    static let rows: [Row] = text.split(separator: "\n").dropFirst().map { line in
        let words = line.split(separator: " ").map(String.init)
        let verdicts = words.dropFirst(5).map { $0 == "yes" }
        return Row(
            mode: words[0],
            allowsInvalid: words[1] == "yes",
            validatesName: words[2] == "yes",
            pins: words[3],
            verdicts: Dictionary(uniqueKeysWithValues: zip(columns, verdicts))
        )
    }
}

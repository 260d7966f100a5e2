import AFWire
import Testing

/// Which codings a server takes.
@Suite struct AcceptedCodingTests {
    @Test(
        arguments: [
            ([], nil), (["gzip"], true), (["identity"], false), ([""], false), (["br, GZIP"], true),
            (["br", "gzip"], true),
            (["x-gzip"], true), (["*"], true), (["br;q=1, *;q=0.1"], true), (["gzip;q=0"], false),
            (["gzip;q=0, *"], false), (["*, gzip;q=0"], false), (["*;q=0, gzip;q=0.001"], true),
            (["gzip ; q=0.000"], false),
            (["gzip;Q=0"], false), (["gzip;q=1"], true), (["gzip;level=0"], true), (["gzipped"], false),
            (["\"gzip\""], false),
            (["deflate", "*;q=0"], false), ([", ,gzip,"], true),
        ] as [([String], Bool?)]
    )
    func `the field is read as a list with weights`(lines: [String], isAccepted: Bool?) {
        var headers = HTTPHeaders()
        for line in lines { headers.append("accept-Encoding", value: line) }
        headers.append("Content-Encoding", value: "gzip")

        #expect(ContentCoding.gzip.isAccepted(by: headers) == isAccepted, "\(lines)")
    }
}

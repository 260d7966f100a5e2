package import AFNetworkingTesting
package import AFTLS

extension ClientIdentity {
    package init(_ issued: IssuedCertificate, hosts: [String]? = nil) throws {
        try self.init(certificates: issued.chain, privateKeyPEM: Array(issued.privateKeyPEM.utf8))
        self.hosts = hosts
    }
}

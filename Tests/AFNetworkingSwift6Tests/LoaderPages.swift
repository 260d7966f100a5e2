import AFNetworking
import AFSecurity
import Foundation

/// Apple's loader as such code uses it beside AFNetworking.
@MainActor final class LoaderPage {
    var text = ""
    var errorText: String?

    func load(_ url: URL) {
        let task = URLSession.shared.dataTask(with: url) { data, response, error in
            DispatchQueue.main.async {
                self.text = data.flatMap { String(data: $0, encoding: .utf8) } ?? ""
                self.errorText = error?.localizedDescription
            }
        }
        task.prefersIncrementalDelivery = false
        task.resume()
    }

    func networks(_ url: URL) -> URLRequest {
        let configuration = URLSessionConfiguration.default
        configuration.allowsExpensiveNetworkAccess = false
        configuration.allowsConstrainedNetworkAccess = false
        configuration.multipathServiceType = .handover
        configuration.requiresDNSSECValidation = false
        var request = URLRequest(url: url)
        request.allowsExpensiveNetworkAccess = false
        request.allowsConstrainedNetworkAccess = false
        request.attribution = .user
        request.requiresDNSSECValidation = false
        request.assumesHTTP3Capable = true
        return request
    }

    func isPinned(_ trust: SecTrust, _ certificate: SecCertificate, _ key: SecKey) -> Bool {
        guard let served = SecTrustGetCertificateAtIndex(trust, 0), let servedKey = SecTrustCopyKey(trust) else {
            return false
        }
        let data = SecCertificateCopyData(served)
        let bytes = Data(bytes: CFDataGetBytePtr(data), count: CFDataGetLength(data))
        return CFEqual(servedKey, key) || bytes == SecCertificateCopyData(certificate) as Data
    }
}

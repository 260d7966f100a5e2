import AFImages
import AFNetworking
import Foundation

/// Operations and their manager, of 2.x.
@MainActor final class OperationPage {
    var answer: Any?
    var errorText: String?
    var percent = 0
    var finished = 0
    let manager = AFHTTPRequestOperationManager()

    func single(_ url: URL) {
        let operation = AFHTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = AFJSONResponseSerializer()
        operation.setCompletionBlockWithSuccess(
            { operation, responseObject in
                self.answer = responseObject
            },
            failure: { operation, error in
                self.errorText = error.localizedDescription
            }
        )
        operation.setDownloadProgressBlock { bytesRead, totalBytesRead, totalBytesExpectedToRead in
            self.percent = Int(totalBytesRead * 100 / max(1, totalBytesExpectedToRead))
        }
        OperationQueue.main.addOperation(operation)
    }

    func verbs(_ url: String) {
        manager.get(
            url,
            parameters: ["foo": "bar"],
            success: { (operation: AFHTTPRequestOperation!, responseObject: Any!) in
                self.answer = responseObject
            },
            failure: { (operation: AFHTTPRequestOperation!, error: Error!) in
                self.errorText = error.localizedDescription
            }
        )
        manager.post(
            url,
            parameters: ["foo": "bar"],
            constructingBodyWith: { formData in
                formData.appendPart(withForm: Data("a".utf8), name: "a")
            },
            success: { operation, responseObject in
                self.finished += 1
            },
            failure: { operation, error in
                self.errorText = operation?.responseString
            }
        )
    }

    func batch(_ requests: [URLRequest]) {
        let operations = AFURLConnectionOperation.batch(
            ofRequestOperations: requests.map { AFHTTPRequestOperation(request: $0) },
            progressBlock: { numberOfFinishedOperations, totalNumberOfOperations in
                self.finished = Int(numberOfFinishedOperations)
            },
            completionBlock: { operations in
                self.answer = operations.count
            }
        )
        OperationQueue.main.addOperations(operations, waitUntilFinished: false)
    }

    func challenge(_ request: URLRequest, user: String, password: String) {
        let operation = AFHTTPRequestOperation(request: request)
        operation.setWillSendRequestForAuthenticationChallenge { connection, challenge in
            let credential = URLCredential(user: user, password: password, persistence: .none)
            challenge.sender?.use(credential, for: challenge)
        }
        operation.setRedirectResponseBlock { connection, request, redirectResponse in
            return request
        }
        operation.completionBlock = { DispatchQueue.main.async { self.finished += 1 } }
        manager.operationQueue.addOperation(operation)
    }

    func download(_ request: URLRequest, to path: String) {
        let operation = AFHTTPRequestOperation(request: request)
        operation.outputStream = OutputStream(toFileAtPath: path, append: false)
        operation.completionBlock = { DispatchQueue.main.async { self.finished += 1 } }
        operation.start()
    }
}

/// Views as a program of another toolkit has them.
@MainActor class PictureView: ImageDisplaying {
    let imageLoading = ImageLoading()
    var image: Image?
}

/// A class with a downloader of its own.
@MainActor final class AvatarView: PictureView {}

/// A button.
@MainActor final class PictureButton: ButtonImageDisplaying {
    let buttonImageLoading = ButtonImageLoading()
    var images: [ControlState: Image] = [:]

    func setImage(_ image: Image?, for state: ControlState) { images[state] = image }
    func setBackgroundImage(_ image: Image?, for state: ControlState) {}
}

/// Images and indicators.
@MainActor final class PicturePage {
    var shown = 0
    var errorText = ""
    let view = PictureView()
    let button = PictureButton()

    func show(_ url: URL) {
        view.setImageWith(url, placeholderImage: nil)
        view.setImageWith(
            URLRequest(url: url),
            placeholderImage: nil,
            success: { request, response, image in
                self.view.image = image
                self.shown += 1
            },
            failure: { request, response, error in
                self.errorText = error.localizedDescription
            }
        )
        button.setImage(for: .normal, with: url)
    }

    func download(_ url: URL) {
        AFImageDownloader.defaultInstance().downloadImage(
            for: URLRequest(url: url),
            success: { request, response, image in
                self.shown += 1
            },
            failure: { request, response, error in
                self.errorText = error.localizedDescription
            }
        )
    }

    func shareDownloaders() {
        PictureView.sharedImageDownloader = AFImageDownloader(sessionConfiguration: .ephemeral)
        AvatarView.setSharedImageDownloader(AFImageDownloader.defaultInstance())
    }

    func showActivity() {
        AFNetworkActivityIndicatorManager.shared().isEnabled = true
        AFNetworkActivityIndicatorManager.shared().setNetworkingActivityAction { isVisible in
            self.shown += isVisible ? 1 : 0
        }
    }
}

import AFNetworking
import Foundation

// What the documents of AFNetworking show, written for Apple's platforms in the classes of the main actor that most code
// there stands in, and compiled in the language mode of Swift 6: tasks of 3.x and 4.x.

/// Downloads, uploads and data tasks.
@MainActor final class TransferPage {
    var place: URL?
    var answer: Any?
    var fraction = 0.0
    var errorText = ""
    let manager = AFURLSessionManager(sessionConfiguration: URLSessionConfiguration.default)

    func download(_ url: URL, to folder: URL) {
        let request = URLRequest(url: url)
        let downloadTask = manager.downloadTask(
            with: request,
            progress: { progress in
                DispatchQueue.main.async { self.fraction = progress.fractionCompleted }
            },
            destination: { targetPath, response in
                return folder.appendingPathComponent(response.suggestedFilename!)
            },
            completionHandler: { response, filePath, error in
                self.place = filePath
            }
        )
        downloadTask.resume()
    }

    func upload(_ filePath: URL, to url: URL) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let uploadTask = manager.uploadTask(with: request, fromFile: filePath, progress: nil) {
            response,
            responseObject,
            error in
            if let error = error {
                self.errorText = error.localizedDescription
            } else {
                self.answer = responseObject
            }
        }
        uploadTask.resume()
    }

    func uploadForm(_ filePath: URL, to url: String) {
        let request = AFHTTPRequestSerializer().multipartFormRequest(
            withMethod: "POST",
            urlString: url,
            parameters: nil,
            constructingBodyWith: { formData in
                try? formData.appendPart(withFileURL: filePath, name: "file", fileName: "a.jpg", mimeType: "image/jpeg")
            },
            error: nil
        )
        request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        let uploadTask = manager.uploadTask(
            withStreamedRequest: request as URLRequest,
            progress: { uploadProgress in
                DispatchQueue.main.async { self.fraction = uploadProgress.fractionCompleted }
            },
            completionHandler: { response, responseObject, error in
                self.answer = responseObject
            }
        )
        uploadTask.resume()
    }

    func data(_ url: URL) {
        let dataTask = manager.dataTask(with: URLRequest(url: url), uploadProgress: nil, downloadProgress: nil) {
            response,
            responseObject,
            error in
            self.answer = responseObject
        }
        dataTask.resume()
    }

    func cancelAll() {
        manager.tasks.forEach { $0.cancel() }
        manager.invalidateSessionCancelingTasks(true, resetSession: true)
    }
}

/// Blocks in the place of delegate methods.
@MainActor final class HookPage {
    var count = 0
    var log: [String] = []
    let manager = AFHTTPSessionManager()

    func answerForSession(user: String, password: String) {
        manager.setSessionDidReceiveAuthenticationChallenge { session, challenge, credential in
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
                return .performDefaultHandling
            }
            credential?.pointee = URLCredential(user: user, password: password, persistence: .none)
            return .useCredential
        }
    }

    func answerForTasks(user: String, password: String) {
        manager.setTaskDidReceiveAuthenticationChallenge { session, task, challenge, credential in
            if challenge.previousFailureCount > 0 { return .cancelAuthenticationChallenge }
            credential?.pointee = URLCredential(user: user, password: password, persistence: .forSession)
            return .useCredential
        }
    }

    func watch() {
        manager.setTaskDidComplete { session, task, error in
            DispatchQueue.main.async { self.count += 1 }
        }
        manager.setDataTaskDidReceiveDataBlock { session, dataTask, data in
            DispatchQueue.main.async { self.log.append("\(data.count)") }
        }
        manager.setDataTaskDidReceiveResponseBlock { session, dataTask, response in
            return .allow
        }
        manager.setDownloadTaskDidWriteDataBlock { session, task, written, total, expected in
            print(written, total, expected)
        }
        manager.setTaskWillPerformHTTPRedirectionBlock { session, task, response, request in
            return request
        }
        manager.setTaskDidFinishCollectingMetricsBlock { session, task, metrics in
            print(metrics.taskInterval)
        }
        manager.setTaskNeedNewBodyStreamBlock { session, task in
            return nil
        }
        manager.setSessionDidBecomeInvalidBlock { session, error in
            DispatchQueue.main.async { self.count = 0 }
        }
    }

    func authenticate(_ credential: URLCredential) {
        manager.setAuthenticationChallengeHandler { session, task, challenge, completionHandler -> Any in
            if challenge.previousFailureCount > 0 {
                return NSNumber(value: URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge.rawValue)
            }
            return credential
        }
    }
}

import Dispatch
import Foundation

extension HTTPSessionManager {
    /// The arguments of a verb.
    struct Call {
        let method: String
        let urlString: String
        let parameters: Any?
        let headers: [String: String]?
        var form: ((any MultipartFormData) -> Void)?
        var upload: ProgressHandler?
        var download: ProgressHandler?
        /// The request itself, if there is one already.
        private(set) var made: URLRequest?

        init(_ request: URLRequest) {
            self.init(request.httpMethod ?? "GET", urlString: "", parameters: nil, headers: nil)
            made = request
        }

        init(
            _ method: String,
            urlString: String,
            parameters: Any?,
            headers: [String: String]?,
            form: ((any MultipartFormData) -> Void)? = nil,
            upload: ProgressHandler? = nil,
            download: ProgressHandler? = nil
        ) {
            self.method = method
            self.urlString = urlString
            self.parameters = parameters
            self.headers = headers
            self.form = form
            self.upload = upload
            self.download = download
        }
    }

    func start(_ call: Call, success: Success?, failure: Failure?) -> URLSessionDataTask? {
        // A subclass may override the method that makes the task, as those of AFNetworking do.
        let task =
            call.form == nil
            ? dataTask(
                withHTTPMethod: call.method,
                urlString: call.urlString,
                parameters: call.parameters,
                headers: call.headers,
                uploadProgress: call.upload,
                downloadProgress: call.download,
                success: success,
                failure: failure
            )
            : make(call, success: success, failure: failure)
        task?.resume()
        return task
    }

    func make(_ call: Call, success: Success?, failure: Failure?) -> URLSessionDataTask? {
        do {
            return makeTask(call, for: try request(for: call), completion: .verb(success: success, failure: failure))
        } catch {
            let error = error
            complete { failure?(nil, error) }
            return nil
        }
    }

    func makeTask(
        _ call: Call,
        for request: URLRequest,
        completion: TaskRecord.Completion,
        options: TaskRecord.Options = TaskRecord.Options()
    ) -> URLSessionDataTask {
        let isForm = call.form != nil && request.httpBodyStream != nil
        guard mayHaveOverrides else {
            // Nothing is overridden: make the task directly, which costs less.
            let record = TaskRecord(
                by: self,
                completion: completion,
                options: options,
                upload: call.upload,
                download: call.download
            )
            return make(record) { session, record in
                isForm
                    ? session.uploadTask(with: request, body: .streamed, for: record)
                    : session.dataTask(with: request, for: record)
            }
        }
        // The handler is called with its own task, which can only be made once there is a handler: `made` has the task
        // later.
        let made = TaskBeingMade(options: options, by: self)
        let handler: TaskCompletionHandler = { response, object, error in
            let outcome = HandedOver((object, error))
            made.withTask { completion.call($0, response: response, object: outcome.value.0, error: outcome.value.1) }
        }
        return made.make(by: self) {
            if isForm {
                uploadTask(withStreamedRequest: request, progress: call.upload, completionHandler: handler)
            } else {
                dataTask(
                    with: request,
                    uploadProgress: call.upload,
                    downloadProgress: call.download,
                    completionHandler: handler
                )
            }
        }
    }

    // MARK: - Requests

    func request(for call: Call) throws -> URLRequest {
        if let request = call.made { return request }
        let configuration = sessionConfiguration
        var (request, leavesBase) = try requestSerializer.request(
            call.method,
            text: call.urlString,
            relativeTo: base,
            parameters: call.parameters,
            form: call.form,
            keeping: configuration.redirectPolicy
        )
        if leavesBase {
            let secrets = configuration.additionalSecrets(under: configuration.redirectPolicy)
            request.withheldHeaderFields.formUnion(secrets)
        }
        for (name, value) in call.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

// Which options go together.

extension Arguments {
    func check() throws(ArgumentError) {
        switch action {
        case .transfer: try checkTransfer()
        case .pins: if urls.count != 1 { throw .usage("pins needs one HOST, HOST:PORT or FILE") }
        case .images: try checkImages()
        case .lint: try checkLint()
        case .reach: if urls.count > 1 { throw .usage("reach watches one HOST, or the way to the internet") }
        case .serve: try checkServer()
        case .events: try checkEvents()
        case .ws: if urls.count != 1 { throw .usage("ws needs one URL") }
        case .completion:
            if urls.count != 1 { throw .usage("completion needs the name of a shell: \(Shell.list)") }
        case .help, .version: break
        }
    }

    private func checkTransfer() throws(ArgumentError) {
        if urls.isEmpty { throw .usage("there is no URL") }
        let list = try TransferList(self)
        if uploads.count > urls.count { throw .usage("there are more --upload-file than URLs") }
        if isHead, body != nil, !isQuery { throw .usage("--head has no body to send") }
        let piped = list.uploadsOfStandardInput(uploads)
        if piped > 1 { throw .usage("standard input can be sent to one URL only") }
        if keepsFiles, resume != nil { throw .usage("--no-clobber and --resume exclude each other") }
        if removesFailed, resume != nil { throw .usage("--remove-on-error and --resume exclude each other") }
        try checkRanges()
        try checkParts()
        try checkQuery()
        try checkFormType()
        try checkNames()
        try checkShared()
        if !retries.isOn, retries != RetryOptions() { throw .usage("the options --retry-… need --retry") }
        if parallelMaximum != nil, !isParallel { throw .usage("--parallel-max needs --parallel") }
        if isParallel, body == .file("-"), list.count > 1 {
            throw .usage("standard input can be sent to one URL only")
        }
        if pace != nil, isParallel { throw .usage("--rate and --parallel exclude each other") }
    }

    /// Files that several requests load. What asks for less than a whole file, or for something else of a response, is not
    /// for them.
    private func checkParts() throws(ArgumentError) {
        guard parts != nil else { return }
        let others: [(Bool, String)] = [
            (body != nil || isUpload, "a body"), (isHead, "--head"), (range != nil, "--range"),
            (resume != nil, "--resume, which it does by itself,"), (includesHead, "--include"),
            (headFile != nil, "--dump-header"), (isCompressed, "--compressed"), (keepsFiles, "--no-clobber"),
            (removesFailed, "--remove-on-error"), (keepsTime, "--remote-time"), (maximumSize != nil, "--max-filesize"),
            (timeCondition != nil, "--time-cond"),
            (etagFile != nil || formerEtag != nil, "--etag-save or --etag-compare"),
            (writeOut != nil || report != nil, "--write-out or --report, which are about one request,"),
            (speed.rule != nil, "--speed-limit"), (dump != nil, "--trace"), (takesServersName, "--remote-header-name"),
            (method != nil, "--request"),
        ]
        if let other = others.first(where: \.0)?.1 { throw .usage("--parts and \(other) exclude each other") }
        if urls.indices.contains(where: { target(at: $0) == .path("-") }) {
            throw .usage("--parts needs an --output for each URL, which is a file")
        }
    }

    /// Parts of responses, and of files to upload.
    private func checkRanges() throws(ArgumentError) {
        guard range != nil || resume != nil else { return }
        if body != nil, !isQuery, !isUpload {
            throw .usage("--range and --resume-from are for what is loaded, and for --upload-file")
        }
        if uploads.contains("-") {
            throw .usage("standard input is sent as a whole: --range and --resume-from need a file to upload")
        }
        if !uploads.isEmpty, let range, range.wholeMatch(of: /[0-9]+-[0-9]+/) == nil {
            throw .usage("--range of --upload-file needs the first and the last byte, not \"\(range)\"")
        }
        let loaded = urls.indices.dropFirst(uploads.count)
        if resume == .size, loaded.contains(where: { target(at: $0) == .path("-") }) {
            throw .usage("--resume needs an --output for each URL: its size says where to go on")
        }
    }

    private func checkLint() throws(ArgumentError) {
        if urls.count > 1 || urls.isEmpty && (security.authorities == nil || !hosts.isEmpty) {
            throw .usage("lint needs one file with a policy, or --cacert")
        }
    }

    private func checkEvents() throws(ArgumentError) {
        if urls.count != 1 { throw .usage("events needs one URL") }
        try checkQuery()
    }

    private func checkQuery() throws(ArgumentError) {
        guard isQuery else { return }
        switch body {
        case nil, .text, .pieces: break
        case .file, .upload, .form, .json:
            throw .usage("--get puts --data and its like into the query, and nothing else")
        }
    }

    /// Content-Type may name another multipart type. afnet adds the boundary.
    private func checkFormType() throws(ArgumentError) {
        guard case .form = body else { return }
        for case .set("content-type", let value) in fields.map(\.lowercased) {
            guard value.hasPrefix("multipart/") else {
                throw .usage("a form is sent as multipart/form-data, or another multipart type, not as \(value)")
            }
            if value.utf8.contains(UInt8(ascii: ";")), value.contains("boundary") {
                throw .usage("the boundary of a form is made for it: leave it out of Content-Type")
            }
        }
    }

    private func checkNames() throws(ArgumentError) {
        let names = targets.contains(.remoteName) || namesAll
        if takesServersName, resume != nil { throw .usage("--remote-header-name and --resume exclude each other") }
        if outputFolder != nil, !names, targets.isEmpty { throw .usage("--output-dir needs --output or --remote-name") }
    }

    /// Checks for all commands that load URLs.
    private func checkShared() throws(ArgumentError) {
        if !connectsTo.isEmpty, proxy.address?.isEmpty == false {
            throw .usage("--connect-to and --proxy exclude each other: a proxy is told the host of the URL")
        }
        if login != nil, bearer != nil { throw .usage("--user and --bearer exclude each other") }
        if resume != nil, range != nil { throw .usage("--range and --resume exclude each other") }
        if family != nil, cache != nil {
            throw .usage(
                "--cache and --ipv4 or --ipv6 exclude each other: a cache does not know where a response is from"
            )
        }
        if hasCacheMode, cache == nil { throw .usage("--cache-mode needs --cache") }
        if let writeOut { _ = try WriteOutFormat.parts(writeOut) }
        try security.check()
        try proxy.check()
    }

    private func checkImages() throws(ArgumentError) {
        if urls.isEmpty { throw .usage("images needs a URL") }
        try checkShared()
    }

    private func checkServer() throws(ArgumentError) {
        if urls.count != 1 { throw .usage("serve needs one folder") }
        if authorityFile != nil, !isSecured { throw .usage("--ca-out needs --tls") }
    }

    /// Refuses a first word that is nearly the name of a command, and cannot be a host with a dot or a port.
    func checkCommand(_ word: String?) throws(ArgumentError) {
        guard action == .transfer, let word, !word.hasPrefix("-"), !word.contains(where: { ".:/[{".contains($0) }),
            word != "localhost"
        else { return }
        let names = Action.allCases.map(\.rawValue) + ["cookies", "verify-chain"]
        if let name = Nearest.name(to: word, among: names) {
            throw .usage("there is no command \(word); did you mean \(name)? A host of that name is http://\(word)/")
        }
    }
}

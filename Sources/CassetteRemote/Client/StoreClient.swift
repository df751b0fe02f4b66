internal import Platform
internal import TapeBytes

/// How often a request is repeated, and how long to wait before.
package struct RetryPolicy: Sendable {
    package var tries: Int
    /// Waits this many milliseconds.
    package var pause: @Sendable (Int) -> Void

    package init(tries: Int = 6, pause: @escaping @Sendable (Int) -> Void = { poll(nil, 0, Int32(clamping: $0)) }) {
        self.tries = tries
        self.pause = pause
    }

    /// The pause before a try, counted from 1: a random time up to a limit that doubles each time, so that many clients do not come back
    /// at once.
    func milliseconds(before attempt: Int) -> Int { Int.random(in: 0...min(20_000, 200 << min(attempt, 8))) }
}

/// Reads and writes the objects of one store, with signatures, repeats and errors for people.
///
/// Knows nothing of cassettes. Any thread may use it, and several at once.
package final class StoreClient: Sendable {
    /// What is known of an object without its bytes.
    package struct Head: Sendable, Hashable {
        package var size: Int
        /// Seconds since 1970.
        package var modified: Int
    }

    package enum Condition: Sendable { case ifNew, always }

    package enum PutOutcome: Sendable, Hashable { case stored, existed }

    /// A page of a listing has at most a thousand keys.
    static let pageLimit = 4 << 20
    /// Of a short answer that is not an object.
    private static let answerLimit = 256 << 10
    /// Each request may take this many seconds, and a second more for each of these bytes.
    private static let (leastSeconds, bytesPerSecond) = (90, 32 << 10)

    private struct State: Sendable {
        /// What the server's clock is ahead of this machine's, in microseconds.
        var skew: Int64 = 0
        /// Whether the server has answered that it knows no conditions.
        var refusesConditions = false
        var requests = 0
    }

    package let settings: StoreSettings
    private let credentials: Credentials?
    private let transport: any StoreTransport
    private let retries: RetryPolicy
    private let state = Guarded(State())

    /// - Parameter credentials: nil for a store that everybody may read.
    package init(
        _ settings: StoreSettings, credentials: Credentials?, transport: any StoreTransport = CurlTransport(),
        retries: RetryPolicy = RetryPolicy()
    ) {
        self.settings = settings
        self.credentials = credentials
        self.transport = transport
        self.retries = retries
    }

    package var address: StoreAddress { self.settings.address }

    /// The requests sent so far, with repeats.
    package var requestCount: Int { self.state.withLock { $0.requests } }

    /// Whether objects can be written there at all.
    package var isWritable: Bool {
        if case .bucket = self.address.place { return true }
        return false
    }

    // MARK: Objects

    /// Nil if there is no such object.
    package func head(_ name: String) throws(StoreError) -> Head? {
        let answer = try self.perform("HEAD", name)
        if answer.status == 404 { return nil }
        try self.expect(answer, [200], "look at", name)
        guard let size = answer.fields["content-length"].flatMap({ Int($0) }), size >= 0 else {
            throw self.damaged(name, "the server does not say how long it is")
        }
        return Head(size: size, modified: answer.fields["last-modified"].flatMap { HTTPDate.seconds($0) } ?? 0)
    }

    /// Stores an object. Its name is the digest of its bytes, so that writing it twice changes nothing.
    package func put(_ name: String, _ payload: Payload, type: String, _ condition: Condition = .ifNew) throws(StoreError) -> PutOutcome {
        var fields = [("content-type", type)]
        if let md5 = payload.md5 { fields.append(("content-md5", md5)) }
        let isConditional = condition == .ifNew && !self.state.withLock { $0.refusesConditions }
        if isConditional {
            let answer = try self.perform("PUT", name, fields: fields + [("if-none-match", "*")], body: payload)
            // 412: another client has stored the same bytes.
            if answer.status == 412 { return .existed }
            guard answer.status == 501 else {
                try self.expect(answer, [200, 201, 204], "store", name)
                return .stored
            }
            self.state.withLock { $0.refusesConditions = true }
        }
        try self.expect(try self.perform("PUT", name, fields: fields, body: payload), [200, 201, 204], "store", name)
        return .stored
    }

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - limit: more bytes are an error.
    ///   - begin: called before the first byte, and again before each repeat.
    /// - Returns: false if there is no such object.
    package func get(
        _ name: String, limit: Int, begin: () throws(StoreError) -> Void, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        let answer = try self.perform("GET", name, limit: limit, begin: begin, sink: sink)
        if answer.status == 404 {
            try self.refuseMissingBucket(answer)
            return false
        }
        try self.expect(answer, [200], "read", name)
        return true
    }

    /// A whole object; nil if there is none.
    package func bytes(_ name: String, limit: Int) throws(StoreError) -> [UInt8]? {
        var bytes: [UInt8] = []
        let isThere = try self.get(name, limit: limit, begin: { () throws(StoreError) in bytes = [] }) { (piece) throws(StoreError) in
            bytes.append(contentsOf: piece)
        }
        return isThere ? bytes : nil
    }

    /// Removes an object; it is no error if it is not there.
    package func delete(_ name: String) throws(StoreError) {
        try self.expect(try self.perform("DELETE", name), [200, 202, 204, 404], "remove", name)
    }

    /// Gives an object today's date by copying it onto itself, so that a collection spares it.
    package func renew(_ name: String, type: String) throws(StoreError) -> Bool {
        guard case .bucket(let bucket) = self.address.place else { return false }
        let source = RequestSigner.encodedPath("/\(bucket)/\(self.address.key(name))")
        // Without REPLACE, servers refuse a copy onto itself; with it, they forget the type unless it is sent again.
        let answer = try self.perform(
            "PUT", name, fields: [("content-type", type), ("x-amz-copy-source", source), ("x-amz-metadata-directive", "REPLACE")])
        if answer.status == 404 { return false }
        try self.expect(answer, [200], "renew", name)
        return true
    }

    /// A page with fewer objects is short, unless it is the last. Servers send some of them where many objects were removed.
    private static let shortPage = 10
    /// A list with more of them in a row has no end: its keys may go on in order for ever.
    private static let shortPageLimit = 100

    /// Passes the objects whose names begin with `prefix`, in the order of their names, page by page.
    ///
    /// Keys that are not below the store's prefix, or out of order, are an error: a listing must end.
    ///
    /// - Parameter page: returns false to stop.
    package func list(_ prefix: String, _ page: ([ListedObject]) throws(StoreError) -> Bool) throws(StoreError) {
        guard self.isWritable else {
            throw StoreError(.unsupported, "\"\(self.address)\" is a web server, which cannot list its files: use an s3:// address.")
        }
        let base = self.address.key("")
        let whole = base + prefix
        var token: String?
        var last = ""
        var shortPages = 0
        while true {
            var items = [("list-type", "2"), ("prefix", whole), ("max-keys", "1000")]
            if let token { items.append(("continuation-token", token)) }
            var bytes: [UInt8] = []
            let answer = try self.perform(
                "GET", nil, query: items, limit: Self.pageLimit, begin: { () throws(StoreError) in bytes = [] },
                sink: { (piece) throws(StoreError) in bytes.append(contentsOf: piece) })
            try self.refuseMissingBucket(answer)
            try self.expect(answer, [200], "list", prefix)
            guard let result = ListPage(bytes) else { throw self.damaged(prefix, "the server's list is not one") }
            var objects: [ListedObject] = []
            for object in result.objects {
                guard object.key.hasPrefix(whole), Array(last.utf8).lexicographicallyPrecedes(Array(object.key.utf8)) else {
                    throw self.damaged(prefix, "the server lists keys that were not asked for, or not in order")
                }
                last = object.key
                objects.append(ListedObject(name: String(object.key.dropFirst(base.count)), size: object.size, modified: object.modified))
            }
            guard try page(objects), result.isTruncated else { return }
            shortPages = objects.count < Self.shortPage ? shortPages + 1 : 0
            guard let next = result.next, next != token, shortPages <= Self.shortPageLimit else {
                throw self.damaged(prefix, "the server's list has no end")
            }
            token = next
        }
    }

    /// The server's clock, in seconds since 1970.
    package func serverTime() throws(StoreError) -> Int {
        let answer = try self.perform(
            "GET", nil, query: [("list-type", "2"), ("max-keys", "1"), ("prefix", self.address.key(""))], limit: Self.pageLimit)
        try self.refuseMissingBucket(answer)
        try self.expect(answer, [200], "list", "")
        guard let time = answer.fields["date"].flatMap({ HTTPDate.seconds($0) }) else {
            throw StoreError(
                .unsupported, "the server of \"\(self.address)\" sends no Date, so that the age of objects is unknown: nothing is removed.")
        }
        return time
    }

    /// An answer as it is, for a check of what the server can do. Repeats nothing but broken connections.
    func probe(
        _ method: String, _ name: String?, query: [(String, String)] = [], fields: [(String, String)] = [], body: Payload? = nil,
        digest: String? = nil, skew: Int64 = 0
    ) throws(StoreError) -> StoreAnswer {
        try self.once(
            method, name, query: query, fields: fields, body: body, digest: digest, skew: skew, limit: Self.pageLimit,
            begin: { () throws(StoreError) in }
        ) {
            (_) throws(StoreError) in
        }
    }

    // MARK: Requests

    private func perform(
        _ method: String, _ name: String?, query: [(String, String)] = [], fields: [(String, String)] = [], body: Payload? = nil,
        limit: Int = StoreClient.answerLimit, begin: () throws(StoreError) -> Void = { () throws(StoreError) in },
        sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) -> StoreAnswer {
        var attempt = 1
        while true {
            let mayRepeat = attempt < self.retries.tries
            do throws(StoreError) {
                let answer = try self.once(
                    method, name, query: query, fields: fields, body: body, digest: nil,
                    skew: self.state.withLock { $0.skew }, limit: limit, begin: begin, sink)
                switch answer.status {
                // 409: two clients write the same key at the same time.
                case 408, 409, 429, 500, 502, 503, 504, 509: guard mayRepeat else { throw self.error(answer, "answer for", name ?? "") }
                // A stalled upload, and bytes that changed on their way.
                case 400
                where ["RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody"].contains(
                    ErrorCode.read(answer.errorText)):
                    guard mayRepeat else { throw self.error(answer, "answer for", name ?? "") }
                case 400, 403:
                    // With HEAD, there is no text that names the reason.
                    guard attempt == 1, self.learnsClock(from: answer) else { return answer }
                default: return answer
                }
            } catch {
                guard error.code == .unreachable, mayRepeat else { throw error }
                // A server that is starting is there soon; an address with a typing error never is.
                guard !(error.cause is NoConnection) || attempt < 3 else { throw error }
            }
            self.retries.pause(self.retries.milliseconds(before: attempt))
            attempt += 1
        }
    }

    /// The cause of an error if nobody listens at the address.
    private struct NoConnection: Error {}

    /// Whether the request was refused because of the time, and the next one can have the server's.
    private func learnsClock(from answer: StoreAnswer) -> Bool {
        guard let time = answer.fields["date"].flatMap({ HTTPDate.seconds($0) }) else { return false }
        let code = ErrorCode.read(answer.errorText)
        let skew = Int64(time) * 1_000_000 - Timestamp.now.microseconds
        guard abs(skew) > 60_000_000, code == nil || code == "RequestTimeTooSkewed" || code == "RequestExpired" || code == "AccessDenied"
        else {
            return false
        }
        return self.state.withLock { state in
            guard abs(state.skew - skew) > 30_000_000 else { return false }
            state.skew = skew
            return true
        }
    }

    private func once(
        _ method: String, _ name: String?, query: [(String, String)], fields: [(String, String)], body: Payload?, digest: String?,
        skew: Int64, limit: Int, begin: () throws(StoreError) -> Void, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreAnswer {
        if method != "GET", method != "HEAD", !self.isWritable {
            throw StoreError(.unsupported, "\"\(self.address)\" is a web server, which is only read: push to an s3:// address.")
        }
        let target = try self.settings.target(key: name.map { self.address.key($0) } ?? "")
        let query = RequestSigner.canonicalQuery(query.map { (name: $0.0, value: $0.1) })
        var all = fields.map { (name: $0.0, value: $0.1) }
        if let credentials {
            // The digest of an empty body.
            let payload = digest ?? body?.sha256 ?? "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            all.append(("x-amz-content-sha256", payload))
            if let token = credentials.sessionToken { all.append(("x-amz-security-token", token)) }
            let signer = RequestSigner(
                accessKey: credentials.accessKey, secretKey: credentials.secretKey, region: self.settings.region)
            let signed = all.filter { $0.name.hasPrefix("x-amz-") } + [("host", target.host)]
            all += signer.fields(
                method: method, path: target.path, query: query, signing: signed, payload: payload,
                at: Timestamp(microseconds: Timestamp.now.microseconds + skew))
        }
        var body = body
        if body == nil, method == "PUT" { body = try Payload([]) }
        let request = StoreRequest(
            method: method, url: query.isEmpty ? target.url : "\(target.url)?\(query)", isLoopback: target.isLoopback, fields: all,
            body: body, limit: limit,
            seconds: Self.leastSeconds + ((body?.size ?? 0) + min(limit, 1 << 40)) / Self.bytesPerSecond)
        try begin()
        self.state.withLock { $0.requests += 1 }
        do {
            return try self.transport.send(request, sink)
        } catch let error as StoreError {
            throw error
        } catch let failure as TransportFailure {
            throw self.error(failure, name)
        } catch {
            throw StoreError(.unreachable, "\"\(self.address)\" cannot be reached (\(error)): try again.", cause: error)
        }
    }

    // MARK: Errors

    private func error(_ failure: TransportFailure, _ name: String?) -> StoreError {
        let server = (try? self.settings.target(key: "").host) ?? ""
        switch failure.kind {
        case .noConnection:
            return StoreError(
                .unreachable,
                "the server \"\(server)\" of \"\(self.address)\" cannot be reached (\(failure.reason)): check \"endpoint\" and the network.",
                cause: NoConnection())
        case .tls:
            return StoreError(
                .refused,
                "the server \"\(server)\" of \"\(self.address)\" cannot prove who it is (\(failure.reason)): check \"endpoint\", and that its certificate's authority is among the system's."
            )
        case .broken:
            return StoreError(.unreachable, "the connection to \"\(server)\" broke off (\(failure.reason)): run the command again.")
        case .tooLarge:
            return StoreError(
                .damaged,
                "\"\(server)\" sent \(failure.reason) for \"\(name ?? "a list")\" of \"\(self.address)\": it was not read any further. Check \"endpoint\"."
            )
        }
    }

    private func expect(_ answer: StoreAnswer, _ statuses: [Int], _ verb: String, _ name: String) throws(StoreError) {
        guard !statuses.contains(answer.status) else { return }
        throw self.error(answer, verb, name)
    }

    private func refuseMissingBucket(_ answer: StoreAnswer) throws(StoreError) {
        guard answer.status == 404, ErrorCode.read(answer.errorText) == "NoSuchBucket" else { return }
        throw StoreError(.notFound, "there is no bucket for \"\(self.address)\": create it, or correct \"store\".")
    }

    private func damaged(_ name: String, _ problem: String) -> StoreError {
        StoreError(.damaged, "\"\(self.address)\", \"\(name)\": \(problem). Check the server with \"wiretape store check\".")
    }

    private func error(_ answer: StoreAnswer, _ verb: String, _ name: String) -> StoreError {
        let code = ErrorCode.read(answer.errorText)
        let what = "\"\(self.address)\" did not \(verb) \"\(name)\" (\(answer.status)\(code.map { " \($0)" } ?? ""))"
        switch answer.status {
        case 300...399:
            return StoreError(
                .refused,
                "\(what): it redirects to another address, which is never followed. Set \"region\" or \"endpoint\" to where the bucket is.")
        case 400 where code == "AuthorizationHeaderMalformed":
            return StoreError(.denied, "\(what): the region is wrong. Set \"region\" to the bucket's.")
        case 400 where code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired",
            403 where code == "ExpiredToken" || code == "InvalidToken":
            return StoreError(.denied, "\(what): the session's token is not valid, or no longer. Get new credentials.")
        case 403 where code == "RequestTimeTooSkewed":
            return StoreError(.denied, "\(what): this machine's clock is wrong. Set it.")
        case 403 where code == "SignatureDoesNotMatch" || code == "InvalidAccessKeyId":
            return StoreError(.denied, "\(what): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile.")
        case 401, 403:
            let next = self.credentials == nil ? "it needs credentials, and none were found" : "these credentials may not do that"
            return StoreError(.denied, "\(what): \(next). \"wiretape store check\" shows what they may do.")
        case 404: return StoreError(.notFound, "\(what): there is no such bucket or object. Check \"store\".")
        case 408, 409, 429, 500...599:
            return StoreError(.busy, "\(what), also after \(self.retries.tries) tries: try again later.")
        default: return StoreError(.unsupported, "\(what): \"wiretape store check\" shows what the server can do.")
        }
    }
}

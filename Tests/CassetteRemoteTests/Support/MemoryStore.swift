import CassetteFormat
import Platform
import TapeBytes

@testable import CassetteRemote

/// A store in memory that answers as servers of S3's protocol do, with faults where a test wants them.
final class MemoryStore: StoreTransport {
    struct Object: Sendable {
        var bytes: [UInt8]
        /// Seconds since 1970.
        var modified: Int
    }

    struct State: Sendable {
        var objects: [String: Object] = [:]
        var now = Int(Timestamp.now.microseconds / 1_000_000)
        /// The number of requests so far.
        var requests = 0
        /// Methods and keys, in order.
        var log: [String] = []
        /// Replaces answers.
        var fault: (@Sendable (_ number: Int, _ method: String, _ key: String) -> Fault?)?
        /// Called before a request is carried out.
        var before: (@Sendable (_ method: String, _ key: String, _ objects: inout [String: Object]) -> Void)?
        var knowsConditions = true
    }

    enum Fault: Sendable {
        case status(Int, code: String?)
        /// The connection breaks before the request is carried out, or after it, so that the client does not know.
        case broken
        case brokenAfterwards
        /// These bytes in place of the object's.
        case bytes([UInt8])
    }

    let state = Guarded(State())

    func send(_ request: StoreRequest, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws -> StoreAnswer {
        let key = Self.key(request.url)
        let (number, fault) = self.state.withLock { state -> (Int, Fault?) in
            state.requests += 1
            state.log.append("\(request.method) \(key)")
            state.before?(request.method, key, &state.objects)
            return (state.requests, state.fault?(state.requests, request.method, key))
        }
        _ = number
        switch fault {
        case .status(let status, let code)?:
            let text = code.map { "<?xml version=\"1.0\"?><Error><Code>\($0)</Code><Message>no</Message></Error>" } ?? ""
            return StoreAnswer(status: status, fields: self.fields(), errorText: Array(text.utf8))
        case .broken?: throw TransportFailure(kind: .broken, reason: "reset")
        case .brokenAfterwards?:
            _ = try self.answer(request, key) { (_) throws(StoreError) in }
            throw TransportFailure(kind: .broken, reason: "reset")
        case .bytes(let bytes)?:
            try bytes.withUnsafeBufferPointer { (buffer) throws(StoreError) in try sink(UnsafeRawBufferPointer(buffer)) }
            return StoreAnswer(status: 200, fields: self.fields())
        case nil: return try self.answer(request, key, sink)
        }
    }

    private func fields(_ more: [String: String] = [:]) -> [String: String] {
        more.merging(["date": Self.date(self.state.withLock { $0.now })]) { $1 }
    }

    private func answer(
        _ request: StoreRequest, _ key: String, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws -> StoreAnswer {
        let object = self.state.withLock { $0.objects[key] }
        switch request.method {
        case "HEAD":
            guard let object else { return StoreAnswer(status: 404) }
            return StoreAnswer(
                status: 200, fields: self.fields(["content-length": "\(object.bytes.count)", "last-modified": Self.date(object.modified)]))
        case "GET" where key.isEmpty: return try self.list(request.url, sink)
        case "GET":
            guard let object else { return StoreAnswer(status: 404) }
            try object.bytes.withUnsafeBufferPointer { (buffer) throws(StoreError) in try sink(UnsafeRawBufferPointer(buffer)) }
            return StoreAnswer(status: 200, fields: self.fields())
        case "DELETE":
            self.state.withLock { $0.objects[key] = nil }
            return StoreAnswer(status: 204)
        default: return try self.put(request, key, object)
        }
    }

    private func put(_ request: StoreRequest, _ key: String, _ object: Object?) throws -> StoreAnswer {
        let fields = Dictionary(request.fields.map { ($0.name, $0.value) }) { $1 }
        if fields["x-amz-copy-source"] != nil {
            guard object != nil else { return StoreAnswer(status: 404) }
            self.state.withLock { $0.objects[key]?.modified = $0.now }
            return StoreAnswer(status: 200)
        }
        if fields["if-none-match"] != nil {
            guard self.state.withLock({ $0.knowsConditions }) else { return StoreAnswer(status: 501) }
            guard object == nil else { return StoreAnswer(status: 412) }
        }
        var bytes = [UInt8](repeating: 0, count: request.body?.size ?? 0)
        _ = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(StoreError) in
            try request.body?.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        guard fields["x-amz-content-sha256"] == Payload.digest(of: bytes) else { return StoreAnswer(status: 400) }
        self.state.withLock { $0.objects[key] = Object(bytes: bytes, modified: $0.now) }
        return StoreAnswer(status: 200)
    }

    /// In pages of three keys.
    private func list(_ url: String, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws -> StoreAnswer {
        let query = url.split(separator: "?").last ?? ""
        var values: [Substring: String] = [:]
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", omittingEmptySubsequences: false)
            values[parts[0]] = parts[1].split(separator: "%2F", omittingEmptySubsequences: false).joined(separator: "/")
        }
        let after = values["continuation-token"] ?? ""
        let all = self.state.withLock { $0.objects }.filter { $0.key.hasPrefix(values["prefix"] ?? "") && $0.key > after }
        let page = all.sorted { $0.key < $1.key }.prefix(3)
        var text = "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>\(page.count < all.count)</IsTruncated>"
        if page.count < all.count, let last = page.last { text += "<NextContinuationToken>\(last.key)</NextContinuationToken>" }
        for (key, object) in page {
            let time = Timestamp(microseconds: Int64(object.modified) * 1_000_000).formatted.prefix(19)
            text += "<Contents><Key>\(key)</Key><LastModified>\(time).000Z</LastModified><Size>\(object.bytes.count)</Size></Contents>"
        }
        text += "</ListBucketResult>"
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { (buffer) throws(StoreError) in try sink(UnsafeRawBufferPointer(buffer)) }
        return StoreAnswer(status: 200, fields: self.fields())
    }

    /// The part after `/bucket`, without the query.
    private static func key(_ url: String) -> String {
        let path = url.prefix { $0 != "?" }.dropFirst("https://s3.test/bucket".count)
        return String(path.dropFirst())
    }

    /// As HTTP writes it.
    private static func date(_ seconds: Int) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Clients

    func client(tries: Int = 3) throws -> StoreClient {
        let settings = try StoreSettings(
            address: StoreAddress("s3://bucket"), endpoint: "https://s3.test", region: nil, usesPathStyle: true)
        return StoreClient(
            settings, credentials: Credentials(accessKey: "KEY", secretKey: "hush"), transport: self,
            retries: RetryPolicy(tries: tries, pause: { _ in }))
    }
}

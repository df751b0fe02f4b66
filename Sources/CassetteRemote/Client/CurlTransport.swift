internal import CCurl
internal import TapeBytes

/// Sends requests with libcurl, and keeps its connections open for the next ones.
///
/// Never follows a redirect, never asks for a coding, and never sends anything but HTTP.
package final class CurlTransport: StoreTransport {
    /// In milliseconds.
    private static let connectTimeout = 20_000
    /// Seconds in which a server must send or take at least a byte each second on average.
    private static let stallTime = 45

    /// libcurl must be prepared before its first use, once in a process.
    private static let isReady = wiretape_curl_is_there() && wiretape_curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Handles that no request uses, each with its open connections.
    private let idle = Guarded<[CurlHandle]>([])

    package init() {}

    package func send(
        _ request: StoreRequest, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws -> StoreAnswer {
        guard Self.isReady, let handle = self.idle.withLock({ $0.popLast() }) ?? CurlHandle() else {
            throw StoreError(.unsupported, "libcurl cannot be used: install it (libcurl4 in Debian), or free some memory.")
        }
        defer { self.idle.withLock { $0.append(handle) } }
        return try withoutActuallyEscaping(sink) { sink in
            let exchange = CurlExchange(body: request.body, limit: request.limit, sink: sink)
            return try handle.perform(request, exchange, connectTimeout: Self.connectTimeout, stallTime: Self.stallTime)
        }
    }
}

/// Owns one of libcurl's handles.
// SAFETY: used by one thread at a time, as the transport takes it out of its list meanwhile; libcurl allows another thread each time.
private final class CurlHandle: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    init?() {
        guard let handle = wiretape_curl_init() else { return nil }
        self.handle = handle
    }

    deinit { wiretape_curl_cleanup(self.handle) }

    func perform(_ request: StoreRequest, _ exchange: CurlExchange, connectTimeout: Int, stallTime: Int) throws -> StoreAnswer {
        // Keeps the connections.
        wiretape_curl_reset(self.handle)
        var lines: UnsafeMutablePointer<curl_slist>?
        defer { wiretape_curl_free(lines) }
        // The last three are those that libcurl would add by itself.
        for line in request.fields.map({ $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }) + [
            "Expect:", "Accept:", "User-Agent: wiretape",
        ] {
            guard let longer = wiretape_curl_append(lines, line) else { throw StoreError(.unsupported, "out of memory for a request.") }
            lines = longer
        }
        let context = Unmanaged.passUnretained(exchange).toOpaque()
        self.set(CURLOPT_NOSIGNAL, 1)
        self.set(CURLOPT_URL, request.url)
        self.set(CURLOPT_PROTOCOLS_STR, "http,https")
        self.set(CURLOPT_FOLLOWLOCATION, 0)
        self.set(CURLOPT_PATH_AS_IS, 1)
        self.set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout)
        self.set(CURLOPT_TIMEOUT, request.seconds)
        self.set(CURLOPT_LOW_SPEED_LIMIT, 1)
        self.set(CURLOPT_LOW_SPEED_TIME, stallTime)
        self.set(CURLOPT_TCP_NODELAY, 1)
        if request.isLoopback { self.set(CURLOPT_NOPROXY, "*") }
        _ = wiretape_curl_set_pointer(self.handle, CURLOPT_HTTPHEADER, lines)
        _ = wiretape_curl_set_transfer(self.handle, CURLOPT_WRITEFUNCTION, CurlExchange.write)
        _ = wiretape_curl_set_pointer(self.handle, CURLOPT_WRITEDATA, context)
        _ = wiretape_curl_set_transfer(self.handle, CURLOPT_HEADERFUNCTION, CurlExchange.header)
        _ = wiretape_curl_set_pointer(self.handle, CURLOPT_HEADERDATA, context)
        switch request.method {
        case "GET": self.set(CURLOPT_HTTPGET, 1)
        case "HEAD": self.set(CURLOPT_NOBODY, 1)
        case "PUT":
            self.set(CURLOPT_UPLOAD, 1)
            _ = wiretape_curl_set_size(self.handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.body?.size ?? 0))
            _ = wiretape_curl_set_transfer(self.handle, CURLOPT_READFUNCTION, CurlExchange.read)
            _ = wiretape_curl_set_pointer(self.handle, CURLOPT_READDATA, context)
            _ = wiretape_curl_set_seek(self.handle, CurlExchange.seek)
            _ = wiretape_curl_set_pointer(self.handle, CURLOPT_SEEKDATA, context)
        default: self.set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        let result = withExtendedLifetime(exchange) { wiretape_curl_perform(self.handle) }
        if let error = exchange.error { throw error }
        guard result == CURLE_OK else { throw Self.failure(result) }
        return StoreAnswer(status: exchange.status, fields: exchange.fields, errorText: exchange.errorText)
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = wiretape_curl_set_long(self.handle, option, value) }
    private func set(_ option: CURLoption, _ value: String) { _ = wiretape_curl_set_text(self.handle, option, value) }

    private static func failure(_ code: CURLcode) -> TransportFailure {
        let reason = wiretape_curl_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            return TransportFailure(kind: .noConnection, reason: reason)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_ISSUER_ERROR:
            return TransportFailure(kind: .tls, reason: reason)
        default: return TransportFailure(kind: .broken, reason: reason)
        }
    }
}

/// What libcurl's callbacks read and write during one request.
private final class CurlExchange {
    /// The most bytes of an error's text, and of all header fields.
    private static let textLimit = 64 << 10

    private(set) var status = 0
    private(set) var fields: [String: String] = [:]
    private(set) var errorText: [UInt8] = []
    /// The error that ended the request from this side.
    private(set) var error: (any Error)?

    private let body: Payload?
    private var sent = 0
    private let limit: Int
    private var received = 0
    private var headerSize = 0
    private let sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void

    init(body: Payload?, limit: Int, sink: @escaping (UnsafeRawBufferPointer) throws(StoreError) -> Void) {
        self.body = body
        self.limit = limit
        self.sink = sink
    }

    private static func exchange(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
        // SAFETY: the context is the exchange of the request that is being performed, which its caller keeps.
        context.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    static let write: wiretape_curl_transfer = { bytes, size, count, context in
        guard let exchange = CurlExchange.exchange(context) else { return 0 }
        return exchange.received(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }

    static let header: wiretape_curl_transfer = { bytes, size, count, context in
        guard let exchange = CurlExchange.exchange(context) else { return 0 }
        return exchange.receivedLine(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }

    static let read: wiretape_curl_transfer = { bytes, size, count, context in
        guard let exchange = CurlExchange.exchange(context) else { return Int(CURL_READFUNC_ABORT) }
        return exchange.next(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    static let seek: wiretape_curl_seek = { context, offset, origin in
        guard origin == 0, let exchange = CurlExchange.exchange(context) else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
        exchange.sent = Int(offset)
        return Int32(CURL_SEEKFUNC_OK)
    }

    private func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (200...299).contains(self.status) else {
            self.errorText.append(contentsOf: bytes.prefix(Self.textLimit - self.errorText.count))
            self.received += bytes.count
            guard self.received <= Self.textLimit * 4 else {
                self.error = TransportFailure(kind: .tooLarge, reason: "an error's text of more than \(Self.textLimit * 4) bytes")
                return false
            }
            return true
        }
        self.received += bytes.count
        guard self.received <= self.limit else {
            self.error = TransportFailure(kind: .tooLarge, reason: "more than the \(self.limit) bytes that were expected")
            return false
        }
        do throws(StoreError) {
            try self.sink(bytes)
            return true
        } catch {
            self.error = error
            return false
        }
    }

    private func receivedLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.headerSize += bytes.count
        guard self.headerSize <= Self.textLimit else {
            self.error = TransportFailure(kind: .tooLarge, reason: "header fields of more than \(Self.textLimit) bytes")
            return false
        }
        var line = bytes[...]
        while let last = line.last, last <= 32 { line = line.dropLast() }
        if line.starts(with: "HTTP/".utf8) {
            // After a 100, the real head follows.
            let word = line.split(separator: 32).dropFirst().first ?? line[line.endIndex...]
            self.status = Int(String(decoding: word, as: UTF8.self)) ?? 0
            self.fields = [:]
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            self.fields[name] = String(decoding: line[(colon + 1)...].drop { $0 == 32 || $0 == 9 }, as: UTF8.self)
        }
        return true
    }

    private func next(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body else { return 0 }
        do throws(StoreError) {
            let count = try body.read(into: buffer, at: self.sent)
            self.sent += count
            return count
        } catch {
            self.error = error
            return Int(CURL_READFUNC_ABORT)
        }
    }
}

/// Dates of HTTP.
enum HTTPDate {
    /// Seconds since 1970; nil if it is none.
    static func seconds(_ text: String) -> Int? {
        let time = wiretape_curl_date(text)
        return time < 0 ? nil : Int(time)
    }
}

internal import CassetteModel
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One exchange with the network.
final class LiveTask: TransportTask {
    let number: Int
    private let task: URLSessionTask
    private let request: TransportRequest
    private let relay: EventRelay
    /// Its session lives as long as there are exchanges.
    private let transport: LiveTransport
    private let isAnswered = Guarded(false)

    init(
        _ task: URLSessionTask, request: TransportRequest, transport: LiveTransport,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) {
        self.number = task.taskIdentifier
        self.task = task
        self.request = request
        self.transport = transport
        self.relay = EventRelay(receive)
    }

    func cancel() {
        self.relay.cancel()
        self.task.cancel()
    }

    func resume() {
        self.relay.resume()
        #if !canImport(FoundationNetworking)
        if self.task.state == .suspended { self.task.resume() }
        #endif
    }

    // MARK: What URLSession says, on its delegate queue

    func sent(_ count: Int64) {
        guard let size = self.request.body.size else { return }
        self.push(.sent(min(count, Int64(size)), of: Int64(size)))
    }

    func received(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let headers = ReceivedHeaders.list(response.allHeaderFields)
        guard response.statusCode >= 200 else { return self.push(.interim(status: response.statusCode, headers: headers)) }
        // A redirect that is not followed may be told twice.
        let isFirst = self.isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        if isFirst { self.push(.head(HTTPResponse(url: self.request.url, status: response.statusCode, headers: headers))) }
    }

    func received(_ data: Data) { self.push(.chunk(data)) }

    #if !canImport(FoundationNetworking)
    func collected(_ metrics: URLSessionTaskMetrics) {
        if let metrics = ExchangeMetrics(metrics) { self.push(.metrics(metrics)) }
    }
    #endif

    #if !canImport(FoundationNetworking)
    /// URLSession says "cancelled" behind this.
    func distrusted(_ error: ServerTrustError) {
        self.push(.failed(TransportFailure(.network(.tls), error.message, underlying: error)))
    }
    #endif

    func ended(_ error: (any Error)?) {
        guard let error else {
            guard self.isAnswered.withLock({ $0 }) else {
                let message = "\(self.name) ended without an answer: look at what the origin sends."
                return self.push(.failed(TransportFailure(.network(.malformed), message)))
            }
            return self.push(.end)
        }
        let system = error as NSError
        let kind: TransportFailure.Kind =
            system.domain == NSURLErrorDomain
            ? .network(
                FailureTable.current.kind(
                    of: system.code, isAnswered: self.isAnswered.withLock { $0 }, isSecure: self.request.url.scheme?.lowercased() == "https"
                ))
            : .unsupported
        self.push(.failed(TransportFailure(kind, "\(self.name) failed: \(system.localizedDescription)", underlying: error)))
    }

    private var name: String { "\(self.request.method) \"\(RequestDecider.url(of: self.request))\"" }

    private func push(_ event: TransportEvent) {
        self.relay.push(event)
        #if !canImport(FoundationNetworking)
        guard self.relay.isPaused, self.task.state == .running else { return }
        self.task.suspend()
        // Somebody may have resumed in between.
        if !self.relay.isPaused, self.task.state == .suspended { self.task.resume() }
        #endif
    }
}

/// What the codes of `NSURLErrorDomain` stand for: not the same on all platforms, so that a kind is what is recorded and compared.
struct FailureTable: Sendable {
    private let kinds: [Int: Failure.Kind]
    /// Nil where the code says enough.
    private let whenAnswered: [Int: Failure.Kind]
    /// A code that stands for whatever else there is.
    private let other: (plain: Failure.Kind, secure: Failure.Kind)

    /// - Parameters:
    ///   - isAnswered: whether a response had come.
    ///   - isSecure: whether the URL is an https one.
    func kind(of code: Int, isAnswered: Bool, isSecure: Bool) -> Failure.Kind {
        if isAnswered, let kind = self.whenAnswered[code] { return kind }
        return self.kinds[code] ?? (isAnswered ? .truncated : isSecure ? self.other.secure : self.other.plain)
    }

    /// libcurl's codes as FoundationNetworking maps them. Those it has no code for, TLS and a body cut short among them, are -1.
    static let linux = FailureTable(
        kinds: [
            -999: .cancelled, -1001: .timeout, -1002: .malformed, -1003: .dns, -1004: .refused, -1005: .reset, -1006: .dns,
            -1009: .unreachable, -1011: .reset,
        ],
        whenAnswered: [:], other: (plain: .malformed, secure: .tls))

    static let apple = FailureTable(
        kinds: [
            -999: .cancelled, -1000: .malformed, -1001: .timeout, -1002: .malformed, -1003: .dns, -1004: .refused, -1005: .reset,
            -1006: .dns, -1009: .unreachable, -1011: .malformed, -1015: .malformed, -1016: .malformed, -1017: .malformed,
            -1018: .unreachable, -1019: .unreachable, -1020: .unreachable, -1022: .tls, -1200: .tls, -1201: .tls, -1202: .tls, -1203: .tls,
            -1204: .tls, -1205: .tls, -1206: .tls,
        ],
        // The connection went away in the middle of the answer.
        whenAnswered: [-1005: .truncated], other: (plain: .malformed, secure: .malformed))

    static var current: FailureTable {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }
}

/// The header fields of `HTTPURLResponse` as a list again.
///
/// It joins fields of one name and knows no order. Set-Cookie is taken apart, since a joined one means something else (RFC 6265, 3); the
/// other fields mean the same joined (RFC 9110, 5.3). They come in the order of their names, so that two recordings are alike.
enum ReceivedHeaders {
    static func list(_ fields: [AnyHashable: Any]) -> HTTPHeaders {
        var list = HTTPHeaders()
        let pairs = fields.compactMap { name, value in (name as? String).map { (name: $0, value: "\(value)") } }
        for (name, value) in pairs.sorted(by: { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }) {
            guard name.lowercased() == "set-cookie" else {
                list.add(name: name, value: value)
                continue
            }
            for cookie in self.cookies(value) { list.add(name: name, value: cookie) }
        }
        return list
    }

    /// Apart at each comma that a name and `=` follow: the comma of a date has a day behind it.
    static func cookies(_ joined: String) -> [String] {
        var cookies: [String] = []
        var current: [UInt8] = []
        let octets = Array(joined.utf8)
        for (index, octet) in octets.enumerated() {
            guard octet == UInt8(ascii: ","), self.beginsCookie(octets[(index + 1)...]) else {
                current.append(octet)
                continue
            }
            cookies.append(self.trimmed(current))
            current = []
        }
        cookies.append(self.trimmed(current))
        return cookies.filter { !$0.isEmpty }
    }

    private static func beginsCookie(_ rest: ArraySlice<UInt8>) -> Bool {
        let name = rest.drop { $0 == 32 || $0 == 9 }.prefix {
            $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",")
        }
        guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: "="), !name.isEmpty else { return false }
        return !name.contains { $0 <= 32 || $0 == UInt8(ascii: "\"") }
    }

    private static func trimmed(_ octets: [UInt8]) -> String {
        String(decoding: octets.drop { $0 == 32 || $0 == 9 }.reversed().drop { $0 == 32 || $0 == 9 }.reversed(), as: UTF8.self)
    }
}

internal import CassetteModel
internal import CassettePlayback
internal import Foundation

/// Asks a cassette's session whether a request is replayed, forwarded or refused, and reads the body if the session needs it.
///
/// Sends nothing and makes no responses.
struct RequestDecider: Sendable {
    /// A body with more bytes than this is not read on the caller's thread.
    static let inlineSize = 1 << 20
    /// How many bytes of a file are read at once.
    static let pieceSize = 256 << 10

    let session: CassetteSession

    init(_ session: CassetteSession) {
        self.session = session
    }

    /// The decision, if it is known without reading a large body.
    enum Beginning {
        case decided(RequestDecision)
        /// Call `decide` on a thread that may block.
        case undecided(PendingRequest)
    }

    func begin(_ request: TransportRequest) -> Beginning {
        let hasBody = request.body.isPresent
        let headers = request.headers.headerFields
        switch self.session.begin(method: request.method, url: Self.url(of: request), headers: headers, hasBody: hasBody) {
        case .decided(let decision):
            return .decided(RequestDecision(decision))
        case .needsBody(let pending):
            guard request.body.size ?? 0 <= Self.inlineSize else { return .undecided(pending) }
            return .decided(self.decide(pending, request))
        }
    }

    /// Reads the body and the exchanges to compare it with; blocks.
    func decide(_ pending: PendingRequest, _ request: TransportRequest) -> RequestDecision {
        do {
            return RequestDecision(try self.session.resolve(pending, body: try Self.facets(of: request.body, pending)))
        } catch let error as CassetteError {
            self.session.couldNotDecide(problem: error.message)
            return .refuse(
                TransportFailure(.unserved(UnservedAnswer(index: nil, problem: error.message)), error.message, cause: error))
        } catch {
            return .refuse(Self.unreadable(request, error))
        }
    }

    static func unreadable(_ request: TransportRequest, _ error: any Error) -> TransportFailure {
        let path = if case .file(let url, _) = request.body { url.path } else { "" }
        return TransportFailure(
            .body,
            "the body of \(request.method) \"\(self.url(of: request))\" cannot be read from \"\(path)\": keep the file until the request has ended.",
            cause: error)
    }

    private static func facets(of body: RequestBody, _ pending: PendingRequest) throws -> BodyFacets {
        var facets = pending.body()
        switch body {
        case .none: break
        case .unobservable: return .unsent
        case .data(let data): data.withUnsafeBytes { facets.push($0) }
        case .file(let url, _):
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let piece = try file.read(upToCount: Self.pieceSize), !piece.isEmpty { piece.withUnsafeBytes { facets.push($0) } }
        }
        return facets.finish()
    }

    /// The URL as it is recorded, without the fragment, which is not sent (RFC 9110, 4.2.5).
    static func url(of request: TransportRequest) -> String {
        let text = request.url.absoluteString
        guard let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return text }
        return String(text[..<fragment])
    }
}

/// The decision about a request.
enum RequestDecision: Sendable {
    case replay(index: Int, form: AnswerForm = .recorded)
    case forward(records: Bool)
    case refuse(TransportFailure)

    init(_ decision: Decision) {
        self =
            switch decision {
            case .replay(let index, let form): .replay(index: index, form: form)
            case .forward(let record): .forward(records: record)
            case .refuse(let report): .refuse(TransportFailure(.noMatch(report), report.description))
            // Only browsers send preflights, and the session allows them only for pages.
            case .allowPreflight:
                .refuse(TransportFailure(.unsupported, "a preflight of CORS is answered by the proxy only: send the request itself."))
            }
    }
}

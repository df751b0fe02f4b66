public import CassetteRedaction

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// A request as a command for a POSIX shell that sends the same request with curl: same method, target, header fields and body.
///
/// Secrets are taken out by the rules that cassettes are redacted with. A command holds no file and no stream: it names files by their
/// paths, and `notes` say what the reader has to do first.
public struct CurlDescription: Sendable, Hashable, CustomStringConvertible {
    /// Octets of a body that are written into a command: more is no help to anybody.
    public static let bodyLimit = 1_000_000

    public let command: String
    /// What the command does not say by itself; usually nothing.
    public let notes: [String]

    /// The command, behind the notes in a form that a shell passes over.
    public var description: String { (self.notes.map { ": \(ShellText.quoted($0))" } + [self.command]).joined(separator: "\n") }

    /// - Parameters:
    ///   - form: what the body was encoded from, to be shown as `-F` arguments.
    ///   - redaction: nil shows all secrets.
    public init(_ request: TransportRequest, form: MultipartFormData? = nil, redaction: RedactionRules? = .standard) {
        var builder = CurlBuilder(request, form: form, redactor: redaction.map { LiveRedactor(Redactor(rules: $0)) })
        self.command = builder.command()
        self.notes = builder.notes
    }

    /// A request before it goes out, with the body that is in it; a stream is left out and noted.
    public init(_ request: URLRequest, form: MultipartFormData? = nil, redaction: RedactionRules? = .standard) {
        guard let url = request.url else {
            self.command = "curl"
            self.notes = ["the request has no URL: make it with one"]
            return
        }
        let body = request.httpBody.map { RequestBody.data($0) } ?? .none
        let sent = TransportRequest(method: request.httpMethod ?? "GET", url: url, headers: request.headers, body: body)
        var builder = CurlBuilder(sent, form: form, redactor: redaction.map { LiveRedactor(Redactor(rules: $0)) })
        if request.httpBodyStream != nil, request.httpBody == nil, form == nil {
            builder.note("the body is a stream, which can be read only once: save it and add --data-binary @FILE")
        }
        self.command = builder.command()
        self.notes = builder.notes
    }
}

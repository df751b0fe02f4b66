import Foundation

@testable import TapeCore

/// A multipart body as a program made it, with the Content-Type that goes with it.
struct ProducedBody: Codable {
    var name: String
    var type: String
    var body: Data

    /// A part as every reader tells of it.
    struct Part: Codable, Equatable {
        var name: String?
        var filename: String?
        var data: Data
    }

    var octets: [UInt8] { Array(self.body) }

    /// The parts as we read them; nil where we do not.
    var parts: [Part]? {
        let octets = self.octets
        guard let boundary = MultipartType(Array(self.type.utf8))?.boundary,
            let body = octets.withUnsafeBytes({ MultipartBody.parse($0, boundary: boundary) })
        else { return nil }
        return body.parts.map { part in
            let disposition = ContentDisposition(part.headers.fields)
            guard case .data(let range) = part.content else { return Part(data: Data()) }
            return Part(name: disposition?.name, filename: disposition?.filename, data: Data(octets[range]))
        }
    }
}

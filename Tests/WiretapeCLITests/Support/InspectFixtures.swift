@testable import TapeBytes
import CassetteModel

@testable import WiretapeCLI
import TapeTestSupport

/// Collects the output of an inspection.
final class TextSink {
    var bytes: [UInt8] = []
    var text: String { String(decoding: self.bytes, as: UTF8.self) }
    var lines: [String] { self.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    func write(_ text: String) { self.bytes.append(contentsOf: text.utf8) }
    func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
}

extension InspectScreen {
    static let piped = InspectScreen(width: nil, paint: Paint(isOn: false))

    static func terminal(_ width: Int, colored: Bool = false) -> InspectScreen {
        InspectScreen(width: width, paint: Paint(isOn: colored))
    }
}

/// The document of a cassette with the given interactions.
func cassetteText(_ interactions: [String]) -> [UInt8] {
    Array(("{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n").utf8)
}

/// The JSON of an interaction whose response has a JSON body.
func interactionText(_ id: Int, second: Int = 0, responseBody: String? = nil, requestBody: String? = nil, headers: String = "") -> String {
    let request = requestBody.map { ", \"body\": \($0)" } ?? ""
    let response = responseBody.map { ", \"body\": \($0)" } ?? ""
    return """
        { "id": \(id), "started": "2026-11-21T04:19:\(second < 10 ? "0" : "")\(second)Z", "request": { "method": "GET", "url": "http://a/\(id)"\(request) },
          "response": { "status": 200, "headers": [\(headers)]\(response) } }
        """
}

/// A recorded gRPC call with two messages in each direction, as it is in a cassette.
func callText(_ id: Int = 1) -> String {
    """
    { "id": \(id), "started": "2026-11-21T04:19:00Z",
      "request": { "method": "POST", "url": "http://a/pets.v1.Pets/Watch", "version": "HTTP/2.0", "headers": ["content-type: application/grpc"],
        "body": { "size": 17, "grpc": [{ "proto": [["1:name", "Rex"]] }, { "proto": [["2", 3]] }] } },
      "response": { "status": 200, "version": "HTTP/2.0", "after": 0, "headers": ["content-type: application/grpc"],
        "body": { "size": 23, "grpc": [{ "after": 1, "proto": [["1:pet", [["2:name", "Tom"], ["3:kind", 1, "DOG"]]], ["4", { "base64": "/wA=" }]] }, { "proto": [] }] },
        "trailers": ["grpc-status: 5", "grpc-message: no%20such%20pet"] },
      "connection": { "id": 2, "stream": 7, "remote": "127.0.0.1:443" } }
    """
}

/// The JSON text of a recorded upload, as it is in a cassette.
func uploadText(_ bytes: [UInt8], id: Int = 1) -> String {
    var writer = JSONWriter()
    bytes.withUnsafeBytes { writer.base64($0) }
    let base64 = String(decoding: writer.bytes, as: UTF8.self)
    return """
        { "id": \(id), "started": "2026-11-21T04:19:00Z", "request": { "method": "POST", "url": "http://a/pets",
          "headers": ["Host: a", "Content-Type: multipart/form-data; boundary=\(FormFixtures.boundary)"],
          "body": { "size": \(bytes.count), "base64": \(base64) } },
          "response": { "status": 201, "headers": [] } }
        """
}

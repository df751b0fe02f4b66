@testable import TapeBytes
import CassetteModel

@testable import WiretapeCLI

/// Takes what an inspection writes.
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

extension Interaction {
    /// An exchange that started so many milliseconds after noon of a day.
    static func sample(
        _ id: Int = 1, at milliseconds: Int64 = 0, _ method: String = "GET", _ url: String = "http://a/pets", status: Int? = 200,
        type: String? = "application/json", body: Body? = nil, outcome: Outcome = .complete, timing: Timing = Timing(total: 1.5)
    ) -> Interaction {
        let headers = HeaderFields(type.map { ["Content-Type: \($0)"] } ?? [])
        return Interaction(
            id: id, started: Timestamp(microseconds: 1_795_262_400_000_000 + milliseconds * 1000),
            request: RecordedRequest(method: method, url: url, headers: HeaderFields(["Host: a"])),
            response: status.map { RecordedResponse(status: $0, reason: Array("OK".utf8), headers: headers, body: body) }, outcome: outcome,
            timing: timing)
    }
}

/// A cassette's document around interactions.
func cassetteText(_ interactions: [String]) -> [UInt8] {
    Array(("{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n").utf8)
}

/// An interaction's JSON with a response whose body is given as JSON.
func interactionText(_ id: Int, second: Int = 0, responseBody: String? = nil, requestBody: String? = nil, headers: String = "") -> String {
    let request = requestBody.map { ", \"body\": \($0)" } ?? ""
    let response = responseBody.map { ", \"body\": \($0)" } ?? ""
    return """
        { "id": \(id), "started": "2026-11-21T04:19:\(second < 10 ? "0" : "")\(second)Z", "request": { "method": "GET", "url": "http://a/\(id)"\(request) },
          "response": { "status": 200, "headers": [\(headers)]\(response) } }
        """
}

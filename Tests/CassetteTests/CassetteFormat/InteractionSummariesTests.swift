@testable import CassetteFormat
import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct InteractionSummariesTests {
    @Test func givesBackWhatItTook() {
        var requests = InteractionSummaries()
        let taken = [(7, "GET", "http://a.test/ü", true), (2, "", "", false), (9, "OPTIONS", "*", false)]
        for (id, method, url, hasBody) in taken {
            requests.append(
                InteractionSummary(id: id, started: Timestamp(microseconds: 0), method: method, url: url, mayHaveRequestBody: hasBody))
        }
        #expect(requests.count == 3)
        for (position, (id, method, url, hasBody)) in taken.enumerated() {
            #expect(requests.id(at: position) == id)
            #expect(requests.mayHaveBody(at: position) == hasBody)
            let texts = requests.withRequest(at: position) { [String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)] }
            #expect(texts == [method, url])
        }
    }
}

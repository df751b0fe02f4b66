internal import TapeBytes
internal import CassetteModel
package import TapeExchange

/// Exchanges in the form in which a recorder gets them.
package enum TapedExchanges {
    package static func simple(_ id: Int, started: Int? = nil, body: String = "hello") -> TapedExchange {
        self.exchange(id, started: started, fields: ["Content-Type: text/plain"], body: Array(body.utf8))
    }

    package static func exchange(_ id: Int, started: Int? = nil, fields: [String], body: [UInt8], isSpilled: Bool = false, size: Int? = nil)
        -> TapedExchange
    {
        let interaction = Interaction(
            id: id, started: Timestamp(microseconds: Int64(1_700_000_000_000_000 + (started ?? id))),
            request: RecordedRequest(method: "GET", url: "http://h/\(id)", headers: HeaderFields(["Host: h"])),
            response: RecordedResponse(status: 200, reason: Array("OK".utf8), headers: HeaderFields(fields)))
        return TapedExchange(
            interaction: interaction,
            responseBody: TapedBody(size: size ?? body.count, isComplete: true, bytes: body, isSpilled: isSpilled))
    }
}

import CassetteFormat
import CassetteModel

/// Decodes one interaction that is on line 40 of a cassette.
func decodeInteraction(_ text: String) throws(CassetteError) -> Interaction {
    try InteractionDecoder.decode(Array(text.utf8), at: InteractionPlace(file: "pets.json", interaction: 3, line: 40))
}

/// The error of a minimal interaction with members added to its request, its response and its response's body.
func decodingError(_ body: String, request: String = "", response: String = "") -> CassetteError? {
    do {
        _ = try decodeInteraction(
            """
            { "id": 1, "started": "2026-11-21T04:19:28Z",
              "request": { "method": "GET", "url": "http://a/"\(request) },
              "response": { "status": 200\(response),
                "body": { "size": 1, \(body) } } }
            """)
        return nil
    } catch { return error }
}

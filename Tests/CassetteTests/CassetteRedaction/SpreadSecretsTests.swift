import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// A value that is redacted in many answers is reported, since it may be ordinary.
@Suite struct SpreadSecretsTests {
    private func answer(_ text: String, by redactor: Redactor) -> String {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h.test/"))
        interaction.response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: application/json"]))
        var request: WireBody?
        var wire: WireBody? = WireBody(Array(text.utf8))
        _ = redactor.redact(&interaction, requestBody: &request, responseBody: &wire)
        return String(decoding: wire?.bytes ?? [], as: UTF8.self)
    }

    @Test func aTranslationFileLeavesOtherAnswersAlone() {
        let redactor = Redactor()
        let words = #"{"password":"비밀번호","token":"Zugangscode","secret":"Geheimnis","user":{"password":"Mot de passe"}}"#
        _ = self.answer(words, by: redactor)
        let page = #"{"title":"비밀번호 Zugangscode Geheimnis Mot de passe","n":1}"#
        #expect(self.answer(page, by: redactor) == page)
        #expect(redactor.spread.words.isEmpty)
    }

    @Test func answersAreCounted() {
        let redactor = Redactor()
        _ = self.answer(#"{"password":"summer2026"}"#, by: redactor)
        for number in 0..<3 { _ = self.answer(#"{"title":"summer2026 \#(number)","again":"summer2026"}"#, by: redactor) }
        // The secret's own place does not count.
        _ = self.answer(#"{"password":"summer2026"}"#, by: redactor)
        #expect(redactor.spread.words.isEmpty)
        _ = self.answer(#"{"title":"summer2026"}"#, by: redactor)
        #expect(redactor.spread.words.map { $0.prefix(34) } == ["{{password:1}} was put into 4 answ"])
    }
}

@testable import CassettePlayback
import Testing

@Suite struct EchoedValuesTests {
    private func value(_ pointer: String, _ text: String) -> ExemptValue {
        ExemptValue(pointer: Array(pointer.utf8), text: Array(text.utf8))
    }

    private func echo(_ pairs: (String, recorded: String, live: String)...) -> EchoedValues {
        var echo = EchoedValues()
        for (pointer, recorded, live) in pairs { echo.learn(recorded: [self.value(pointer, recorded)], live: [self.value(pointer, live)]) }
        return echo
    }

    private func applied(_ echo: EchoedValues, _ message: String) -> String? {
        echo.applied(to: Array(message.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aValueIsRepeatedAtItsPlaceAlone() {
        let echo = self.echo(("/id", "\"a\"", "\"live\""), ("/list/1/n", "7", "12345"))
        #expect(self.applied(echo, #"{"id":"a","x":"a"}"#) == #"{"id":"live","x":"a"}"#)
        #expect(self.applied(echo, #" { "x" : {"id":"a"}, "id" : "a" } "#) == #" { "x" : {"id":"a"}, "id" : "live" } "#)
        #expect(self.applied(echo, #"{"list":[{"n":7},{"m":[7],"n":7},{"n":7}]}"#) == #"{"list":[{"n":7},{"m":[7],"n":12345},{"n":7}]}"#)
        #expect(self.applied(echo, #"{"i\u0064":"a"}"#) == #"{"i\u0064":"live"}"#)
        #expect(self.applied(echo, #"42["add",{"id":"a"}]"#) == nil)
    }

    @Test func whatIsNotRepeatedStays() {
        let echo = self.echo(("/id", "\"a\"", "\"live\""))
        for message in [#"{"id":"b"}"#, #"{"id":{"id":"a"}}"#, #"{"id":"ab"}"#, "a", "", #""a""#] {
            #expect(self.applied(echo, message) == nil)
        }
        #expect(self.applied(EchoedValues(), #"{"id":"a"}"#) == nil)
        #expect(self.applied(self.echo(("/id", "1", "1")), #"{"id":1}"#) == nil)
    }

    @Test func theClientsLastValueCounts() {
        let echo = self.echo(("/id", "1", "2"), ("/id", "1", "3"))
        #expect(self.applied(echo, #"{"id":1}"#) == #"{"id":3}"#)
    }

    /// A broken text is said as far as it can be read.
    @Test func textAfterABreakStays() {
        #expect(self.applied(self.echo(("/id", "1", "2")), #"{"id":1,,"id":1}"#) == #"{"id":2,,"id":1}"#)
    }

    @Test func theOldestOfManyAreForgotten() {
        var echo = EchoedValues()
        for number in 0..<5000 { echo.learn(recorded: [self.value("/id", "\(number)")], live: [self.value("/id", "1\(number)")]) }
        #expect(self.applied(echo, #"{"id":0}"#) == nil)
        #expect(self.applied(echo, #"{"id":904}"#) == #"{"id":1904}"# && self.applied(echo, #"{"id":4999}"#) == #"{"id":14999}"#)
    }
}

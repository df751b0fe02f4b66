@testable import CassettePlayback
import Testing

@Suite struct EchoedValuesTests {
    private func value(_ pointer: String, _ text: String, isGeneral: Bool = false) -> ExemptValue {
        let place = isGeneral ? ExemptValue.place(of: Array(pointer.utf8)) : nil
        return ExemptValue(pointer: Array(pointer.utf8), place: place, text: Array(text.utf8))
    }

    private func echo(_ pairs: (String, recorded: String, live: String)...) -> EchoedValues {
        var echo = EchoedValues()
        for (pointer, recorded, live) in pairs { echo.learn(recorded: [self.value(pointer, recorded)], live: [self.value(pointer, live)]) }
        return echo
    }

    private func applied(_ echo: EchoedValues, _ message: String, isText: Bool = true) -> String? {
        echo.applied(to: Array(message.utf8), isText: isText).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aValueIsRepeatedAtItsPlaceAlone() {
        let echo = self.echo(("/id", "\"a\"", "\"live\""), ("/list/1/id", "7", "12345"))
        #expect(self.applied(echo, #"{"id":"a","x":"a"}"#) == #"{"id":"live","x":"a"}"#)
        #expect(self.applied(echo, #" { "x" : {"id":"a"}, "id" : "a" } "#) == #" { "x" : {"id":"a"}, "id" : "live" } "#)
        #expect(
            self.applied(echo, #"{"list":[{"id":7},{"m":[7],"id":7},{"id":7}]}"#) == #"{"list":[{"id":7},{"m":[7],"id":12345},{"id":7}]}"#)
        #expect(self.applied(echo, #"{"i\u0064":"a"}"#) == #"{"i\u0064":"live"}"#)
        #expect(self.applied(echo, #"42["add",{"id":"a"}]"#) == nil)
    }

    @Test func otherValuesStay() {
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

    /// A broken text is replaced as far as it can be read.
    @Test func textAfterABreakStays() {
        #expect(self.applied(self.echo(("/id", "1", "2")), #"{"id":1,,"id":1}"#) == #"{"id":2,,"id":1}"#)
    }

    @Test func theOldestOfManyAreForgotten() {
        var echo = EchoedValues()
        for number in 0..<5000 { echo.learn(recorded: [self.value("/id", "\(number)")], live: [self.value("/id", "1\(number)")]) }
        #expect(self.applied(echo, #"{"id":0}"#) == nil)
        #expect(self.applied(echo, #"{"id":904}"#) == #"{"id":1904}"# && self.applied(echo, #"{"id":4999}"#) == #"{"id":14999}"#)
    }

    @Test func escapesDoNotCount() {
        let echo = self.echo(("/id", #""a/\u00e9""#, #""live/é""#))
        for spelled in [#""a\/é""#, #""a/\u00E9""#, #""a/é""#] {
            #expect(self.applied(echo, "{\"id\":\(spelled)}") == #"{"id":"live/é"}"#)
        }
        #expect(self.applied(echo, #"{"id":"a/\ud800"}"#) == nil)
    }

    /// The bytes before the text may be its length.
    @Test func onlyMessagesThatAreJSONAreChanged() {
        let echo = self.echo(("/id", "1", "23"))
        for message in [#"8 bytes {"id":1}"#, #"len={"id":1}"#, "\u{0}{\"id\":1}"] { #expect(self.applied(echo, message) == nil) }
        #expect(self.applied(echo, #"42/room,7{"id":1}"#) == #"42/room,7{"id":23}"#)
        #expect(self.applied(echo, #" {"id":1}"#, isText: false) == #" {"id":23}"#)
        #expect(self.applied(echo, #"42{"id":1}"#, isText: false) == nil)
    }

    @Test func elementsOfARuleForAnyMayComeInAnotherOrder() {
        var echo = EchoedValues()
        func values(_ texts: [String]) -> [ExemptValue] {
            texts.enumerated().map { self.value("/\($0.offset)/id", $0.element, isGeneral: true) }
        }
        echo.learn(recorded: values(["1", "2", "1"]), live: values(["10", "20", "30"]))
        #expect(self.applied(echo, #"[{"id":2},{"n":2},{"id":1}]"#) == #"[{"id":20},{"n":2},{"id":30}]"#)
        #expect(self.applied(echo, #"[{"id":1},{"id":2}]"#) == #"[{"id":10},{"id":20}]"#)
        #expect(self.applied(echo, #"{"id":1}"#) == nil)
        // Without such a rule, elements have places of their own.
        #expect(self.applied(self.echo(("/0", "1", "5")), "[1,1]") == "[5,1]")
    }

    @Test func aLongMessageIsReplayedUnchanged() {
        let echo = self.echo(("/id", "1", "2"))
        let padding = String(repeating: " ", count: EchoedValues.sizeLimit)
        #expect(self.applied(echo, #"{"id":1}"# + padding) == nil)
        #expect(self.applied(echo, #"{"id":1}"# + padding.dropFirst(100)) != nil)
    }

    /// MCP 2025-11-25, Progress: the token of a call is at another place in the notification.
    @Test func aProgressTokenComesBackInNotifications() {
        let echo = self.echo(("/params/_meta/progressToken", "3", "503"))
        #expect(
            self.applied(echo, #"{"params":{"progressToken":3,"progress":3},"jsonrpc":"2.0","method":"notifications\/progress"}"#)
                == #"{"params":{"progressToken":503,"progress":3},"jsonrpc":"2.0","method":"notifications\/progress"}"#)
        #expect(
            self.applied(
                echo, #"[{"method":"other","params":{"progressToken":3}},{"method":"notifications/progress","params":{"progressToken":3}}]"#
            )
                == #"[{"method":"other","params":{"progressToken":3}},{"method":"notifications/progress","params":{"progressToken":503}}]"#)
        for other in [
            #"{"method":"notifications/progress","params":{"progressToken":4}}"#, #"{"params":{"progressToken":3}}"#,
            #"{"method":"notifications/message","params":{"progressToken":3}}"#,
            #"{"method":"notifications/progress","params":{"progressToken":"3"}}"#,
        ] { #expect(self.applied(echo, other) == nil, "\(other)") }
        // The token of a call in a batch, where the rule covers any call.
        let batch = self.echo(("/1/params/_meta/progressToken", "3", "503"))
        #expect(self.applied(batch, #"{"method":"notifications/progress","params":{"progressToken":3}}"#)?.contains("503") == true)
    }

    @Test func otherProtocolsRepeatValuesAtPlacesOfTheirOwn() {
        for (source, message) in [
            ("/id", #"{"jsonrpc":"2.0","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#),
            ("/id", #"{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#),
            ("/params/workDoneToken", #"{"method":"$/progress","params":{"token":3}}"#),
            ("/params/partialResultToken", #"{"method":"$/progress","params":{"token":3}}"#),
            ("/seq", #"{"seq":8,"type":"response","request_seq":3}"#), ("/event_id", #"{"type":"error","error":{"event_id":3}}"#),
        ] {
            #expect(self.applied(self.echo((source, "3", "503")), message) == message.replacing("3}", with: "503}"), "\(message)")
        }
        #expect(self.applied(self.echo(("/seq", "3", "503")), #"{"type":"event","request_seq":3}"#) == nil)
    }

    /// JSON-RPC 2.0, 6: the answers to a batch may come one by one in a stream, and a single call may be answered in an array.
    @Test func anIdOfACallComesBackInsideAndOutsideOfBatches() {
        #expect(self.applied(self.echo(("/1/id", "3", "503")), #"{"jsonrpc":"2.0","id":3}"#) == #"{"jsonrpc":"2.0","id":503}"#)
        #expect(
            self.applied(self.echo(("/id", "3", "503")), #"[{"id":3,"jsonrpc":"2.0"},{"id":3}]"#)
                == #"[{"id":503,"jsonrpc":"2.0"},{"id":3}]"#)
        #expect(self.applied(self.echo(("/1/id", "3", "503")), #"{"id":3}"#) == nil)
    }

    /// A server cancels its own calls, which have numbers of their own. Only the end of a subscription names the client's call.
    @Test func onlyTheEndOfASubscriptionNamesTheClientsCall() {
        let message = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#
        for (method, isOwn) in [(nil, false), ("tools/call", false), ("subscriptions/listen", true)] {
            var echo = EchoedValues()
            echo.learn(recorded: [self.value("/id", "3")], live: [self.value("/id", "503")], method: method.map { Array($0.utf8) })
            #expect(self.applied(echo, message) == (isOwn ? message.replacing(":3", with: ":503") : nil))
        }
    }

    @Test func aLongRandomStringComesBackAnywhere() {
        let (old, new) = ("6f1c1c52-9d2e-4a4e-8f4c-1f0a5b2f0c11", "00000000-9d2e-4a4e-8f4c-1f0a5b2f0c22")
        let echo = self.echo(("/clientToken", "\"\(old)\"", "\"\(new)\""), ("/title", "\"the title of a page\"", "\"another title of it\""))
        #expect(
            self.applied(echo, #"{"request":{"token":"\#(old)"},"text":"of \#(old)"}"#)
                == #"{"request":{"token":"\#(new)"},"text":"of \#(old)"}"#)
        #expect(self.applied(echo, #"{"page":"the title of a page"}"#) == nil)
    }

    @Test func rulesNameTheExemptions() throws {
        let rules = try MatchRules(ignore: ["json:/*/id", "json:/0/n"], patterns: ["json:/1/at=[0-9]+"])
        let facets = MatchFixture.live(#"[{"id":1,"n":2,"x":3},{"at":4,"id":"five"}]"#, MatchFixture.json, rules)
        #expect(
            facets.exempt == [
                self.value("/0/id", "1", isGeneral: true), self.value("/0/n", "2"), self.value("/1/at", "4"),
                self.value("/1/id", "\"five\"", isGeneral: true),
            ])
    }
}

import Testing

@testable import WiretapeCLI

@Suite struct MissCommandsTests {
    private let commands = MissCommands(
        words: ["replay", "pets.json", "--repeat", "last", "--", "curl", "http://a/?b=1"], file: "pets.json")

    @Test func suggestionsBecomeWholeCommands() {
        let text = """
            miss: no recorded exchange answers "GET http://a/?b=1"
            to match it with exchange 1, run with: --ignore query:b; to record it, run: wiretape run --mode new-episodes pets.json -- COMMAND
            """
        #expect(
            self.commands.complete(text) == """
                miss: no recorded exchange answers "GET http://a/?b=1"
                to match it with exchange 1: wiretape replay pets.json --repeat last --ignore query:b -- curl 'http://a/?b=1'
                to record it: wiretape run pets.json --repeat last --mode new-episodes -- curl 'http://a/?b=1'
                """)
    }

    @Test func placesWithoutARuleGetAWayOut() {
        let text = """
              exchange 1, "GET http://a/"
                method is "POST", recorded is "GET"
                body is json, recorded is empty
            to record it, run: wiretape run --mode new-episodes pets.json -- COMMAND
            """
        let lines = self.commands.complete(text).split(separator: "\n")
        #expect(lines.count == 5)
        #expect(
            lines[3]
                == "to match it with exchange 1 all the same, as any other request that differs only there: wiretape replay pets.json --repeat last --ignore method --ignore body -- curl 'http://a/?b=1'"
        )
    }

    @Test func aDifferenceThatIsNoPlaceGetsNone() {
        let text =
            "  exchange 1, \"GET http://a/\"\n    json item 3 is new\nto record it, run: wiretape run --mode new-episodes pets.json -- COMMAND"
        #expect(!self.commands.complete(text).contains("all the same"))
    }
}

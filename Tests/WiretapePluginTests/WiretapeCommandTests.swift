import Testing

struct WiretapeCommandTests {
    @Test func commandsAreTaken() throws {
        #expect(try WiretapeCommand(["record"]) == .record(filters: [], mode: "all", options: []))
        #expect(
            try WiretapeCommand(["record", "Pets", "--mode", "once", "Shop", "--", "-c", "release"])
                == .record(filters: ["Pets", "Shop"], mode: "once", options: ["-c", "release"]))
        #expect(try WiretapeCommand(["status"]) == .status(runsTests: true, options: []))
        #expect(try WiretapeCommand(["status", "--no-run"]) == .status(runsTests: false, options: []))
        #expect(try WiretapeCommand(["prune"]) == .prune(removes: false, options: []))
        #expect(try WiretapeCommand(["prune", "--yes", "--", "-j", "2"]) == .prune(removes: true, options: ["-j", "2"]))
        #expect(try WiretapeCommand(["inspect", "a.json"]) == .inspect("a.json"))
        #expect(try WiretapeCommand(["--help"]) == .help)
    }

    @Test(arguments: [
        ([], "a command is missing"), (["rewind"], "there is no command \"rewind\""), (["re\u{1b}[2J"], "\"re\\u{1B}[2J\""),
        (["record", "--mode"], "--mode \"\" is not a mode that records"), (["record", "--mode", "none"], "--mode \"none\" is not"),
        (["record", "--yes"], "record does not take \"--yes\": options of swift test stand after --"),
        (["status", "Pets"], "status does not take \"Pets\""), (["prune", "-y"], "prune does not take \"-y\""),
        (["inspect"], "inspect takes one file"), (["inspect", "a", "b"], "inspect takes one file"),
    ]) func othersAreRefused(arguments: [String], text: String) {
        let error = #expect(throws: PluginFailure.self) { try WiretapeCommand(arguments) }
        #expect(error?.description.contains(text) == true)
    }

    /// A run of some tests proves nothing about the cassettes of the others: they used to be removed.
    @Test(arguments: [
        ["--filter", "Pets"], ["--filter=Pets"], ["-c", "release", "--skip", "Pets"], ["-s", "Pets"], ["--disable-xctest"],
        ["--disable-swift-testing"], ["--test-product", "a"], ["--skip-build"],
    ]) func pruneTakesNoOptionThatLeavesOutTests(options: [String]) {
        let error = #expect(throws: PluginFailure.self) { try WiretapeCommand(["prune", "--yes", "--"] + options) }
        #expect(error?.description.contains("only a run of all tests proves that no test uses a cassette") == true)
        #expect(WiretapeCommand.selection(in: options) != nil)
    }

    @Test func optionsThatLeaveOutNoTestAreTaken() {
        #expect(
            WiretapeCommand.selection(in: ["-c", "release", "-j", "2", "--scratch-path", "x", "--traits", "A", "--no-parallel"]) == nil)
    }
}

internal import ArgumentParser

/// The browser that a run starts, in the commands that have one cassette.
struct BrowserOptions: ParsableArguments {
    @Flag(
        help:
            "Run a browser, with a new profile that goes through the proxy and trusts its authority, and end with it. Arguments after \"--\" are the browser's."
    )
    var browser = false

    @Option(
        help: ArgumentHelp(
            "The browser's path or name. Default: the first of Chromium, Chrome, Edge, Brave and Firefox that is installed.",
            valueName: "program"), completion: .file())
    var browserProgram: String?

    static var noPassword: ValidationError {
        ValidationError(
            "--browser cannot be used together with --proxy-auth or WIRETAPE_PROXY_AUTH: no browser takes a password for a proxy at its start."
        )
    }

    /// - Parameters:
    ///   - url: the URL given next to the cassette.
    ///   - command: what follows "--".
    func validate(url: String?, command: [String]) throws {
        guard self.browser || self.browserProgram == nil else { throw ValidationError("--browser-program needs --browser: pass both.") }
        if let url, !self.browser, !command.isEmpty {
            throw ValidationError(
                "\"\(url)\" is one argument too many before \"--\": a run has one cassette, and only --browser takes a URL.")
        }
        if let url, !self.browser {
            throw ValidationError("unexpected argument \"\(url)\": put a command after \"--\", or pass --browser to open a URL.")
        }
    }
}

import Testing

@testable import Wiretape

@Suite struct RefreshWindowTests {
    @Test func theErrorSaysWhatWasTooMuch() {
        let error = RefreshWindow(interval: .milliseconds(1500), maximumAttempts: 3).error
        #expect(error.code == .excessiveRefresh)
        #expect(
            error.message
                == "the credential was refreshed 3 times within 1.500 s: find out why the server refuses each new one, or widen the RefreshWindow"
        )
        #expect(RefreshWindow() == RefreshWindow(interval: .seconds(30), maximumAttempts: 5))
    }
}

@testable import TapeProxy
import Testing

@Suite struct ProxyCredentialsTests {
    @Test(arguments: ["", ":", "user", "user:", ":password"]) func aPairWithoutBothIsRefused(pair: String) {
        let error = #expect(throws: ProxyError.self) { try ProxyCredentials(pair: pair) }
        #expect(error?.code == .invalidCredentials)
        #expect(pair.count < 2 || error?.message.contains(pair) == false, "no secret in a message")
    }

    @Test func onlyThePairItselfIsTaken() throws {
        let credentials = try ProxyCredentials(pair: "user:pass")
        #expect(credentials.accept("Basic dXNlcjpwYXNz"))
        #expect(credentials.accept("bAsIc dXNlcjpwYXNz"))
        // user:pas, user:passw, user:pasT, nothing
        for value in [
            nil, "", "Basic", "Basic ", "Basic dXNlcjpwYXM=", "Basic dXNlcjpwYXNzdw==", "Basic dXNlcjpwYXNU", "Digest dXNlcjpwYXNz",
            "dXNlcjpwYXNz",
        ] {
            #expect(!credentials.accept(value), "\(value ?? "nil")")
        }
    }
}

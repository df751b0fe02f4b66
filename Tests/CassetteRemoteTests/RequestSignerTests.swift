import TapeBytes
import Testing

@testable import CassetteRemote

/// The examples of AWS's documentation of Signature Version 4 for S3.
struct RequestSignerTests {
    private static let signer = RequestSigner(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1")
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private static func signature(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [], fields: [(name: String, value: String)] = [],
        payload: String = Self.empty
    ) throws -> String {
        let time = try #require(Timestamp("2013-05-24T00:00:00Z"))
        let all = [("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", payload)] + fields
        let signed = self.signer.fields(
            method: method, path: RequestSigner.encodedPath(path), query: RequestSigner.canonicalQuery(query), signing: all,
            payload: payload,
            at: time)
        return try #require(signed.last?.value.split(separator: "=").last.map(String.init))
    }

    @Test func readOfARange() throws {
        #expect(
            try Self.signature("GET", "/test.txt", fields: [("range", "bytes=0-9")])
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func writeWithAnOddKey() throws {
        #expect(
            try Self.signature(
                "PUT", "/test$file.text",
                fields: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func queryWithoutValue() throws {
        #expect(
            try Self.signature("GET", "/", query: [("lifecycle", "")])
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func listWithAPrefix() throws {
        #expect(
            try Self.signature("GET", "/", query: [("prefix", "J"), ("max-keys", "2")])
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func encodesEverythingButUnreservedCharacters() {
        #expect(RequestSigner.encodedPath("/a b/ü+=~-._*'()") == "/a%20b/%C3%BC%2B%3D~-._%2A%27%28%29")
        #expect(RequestSigner.canonicalQuery([("b", "x/y"), ("a", "%")]) == "a=%25&b=x%2Fy")
    }
}

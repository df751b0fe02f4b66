import Testing

@testable import CassetteRedaction

/// Values in objects and lists under the name of a secret, or next to one.
@Suite struct NestedPlacesTests {
    @Test(arguments: [
        // What readers of XML make of an element with attributes.
        #"{"password":{"_":"h7nter2Xq","$":{"Type":"PasswordText"}}}"#,
        #"{"wsse:Password":[{"_":"h7nter2Xq","$":{"Type":"PasswordText"}}]}"#,
        #"{"password":{"$text":"h7nter2Xq"}}"#, #"{"password":{"__cdata":"h7nter2Xq"}}"#, ##"{"password":{"#cdata-section":"h7nter2Xq"}}"##,
        #"{"password":{"literal":"h7nter2Xq"}}"#, #"{"password":{"inline":"h7nter2Xq"}}"#,
        // Resources of JSON:API, and connections of GraphQL.
        #"{"apiTokens":{"data":[{"attributes":{"value":"h7nter2Xq"}}]}}"#,
        #"{"apiTokens":{"data":[{"id":"1","type":"tokens","attributes":{"name":"ci","value":"h7nter2Xq"}}]}}"#,
        #"{"apiTokens":{"edges":[{"node":{"name":"ci","value":"h7nter2Xq"}}]}}"#, #"{"apiTokens":{"items":[{"value":"h7nter2Xq"}]}}"#,
        #"{"parameters":{"adminPassword":{"type":"securestring","defaultValue":"h7nter2Xq"}}}"#,
        #"{"Parameters":{"DBPassword":{"Type":"String","Default":"h7nter2Xq"}}}"#,
    ])
    func objectsUnderAName(text: String) { HiddenPlace.check(text, type: "application/json") }

    @Test(arguments: [
        #"{"name":"secret","values":["h7nter2Xq"]}"#, #"{"name":"password","values":["h7nter2Xq","x"]}"#,
        #"{"values":["h7nter2Xq"],"name":"password"}"#, #"{"name":"userPassword","vals":["h7nter2Xq"]}"#,
        #"{"type":"userPassword","enabled":true,"vals":["h7nter2Xq"]}"#, #"{"attribute":"password","values":[{"value":"h7nter2Xq"}]}"#,
        #"{"name":"password","value":["h7nter2Xq"]}"#, #"{"key":"password","value":{"stringValue":"h7nter2Xq"}}"#,
        #"{"name":"X-Api-Key","values":["h7nter2Xq"]}"#,
    ])
    func listsOfValuesNextToAName(text: String) { HiddenPlace.check(text, type: "application/json") }

    @Test(arguments: [
        #"{"credentials":{"ada":"h7nter2Xq"}}"#, #"{"credentials":{"ada":"h7nter2Xq","eve":"h7nter2Xq"}}"#,
        #"{"password":{"ada":"h7nter2Xq"}}"#,
        #"{"userPasswords":{"ada":"h7nter2Xq"}}"#,
    ])
    func passwordsOfUsers(text: String) { HiddenPlace.check(text, type: "application/json") }

    @Test(arguments: [
        #"{"credentials":{"type":"password","count":"3 users","ada":"admin"}}"#, #"{"credentials":{"ada":"Ada Lovelace"}}"#,
        #"{"credentials":{"url":"https://h.test/a1b2c3d4","region":"us-east-1","account":"user12345","created":"2024-01-02"}}"#,
        #"{"credentials":{"provider":"github2","username":"ada12345","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}}"#,
        #"{"password":{"label":"Password2024","placeholder":"min8chars","hint":"abc12345"}}"#,
        #"{"name":"token","values":["asc","desc"]}"#, #"{"field":"password","values":["is too short"]}"#,
        #"{"filter":{"key":"color","values":["red2blue","green"]}}"#,
        #"{"tokens":{"edges":[{"node":{"symbol":"USDC","id":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}}]}}"#,
        #"{"tokens":{"data":[{"attributes":{"value":"the"}}]}}"#, #"{"secret":{"name":"db-password-1","version":"v12"}}"#,
        #"{"password":{"items":{"type":"string"},"text":"h7nter2Xq"}}"#,
    ])
    func descriptionsStay(text: String) { HiddenPlace.stays(text, type: "application/json") }
}
